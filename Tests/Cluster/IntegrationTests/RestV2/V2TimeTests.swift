@testable import ClusterCommands
@testable import CommandKit
import Clocks
import Foundation
import Testing

extension RestV2Tests {
    /// Cases that last from minutes to weeks. They end far in the future; what comes after them takes the time from the cluster.
    @Suite("As time goes by")
    struct TimeTests {
        private func pass(_ span: Duration) throws { try #require(TestCluster.running().clock).pass(span) }

        private func minutes(_ count: Int) -> Duration { .seconds(60 * count) }

        @Test("clients #98: others hear of a used code for ten minutes, but not of its record; its maker until its end, then an hour uncharged")
        func usedCode() async throws {
            let (maker, other) = (try await Device.make(), try await Device.make())
            let code = try await maker.signIn()
            /// What the code's record, `checkauthn/{code}` and `preauthorize/{code}` say.
            func told(_ device: Device) async throws -> [Int] {
                let query = ["requestor": "ACME1", "resource": "ACME1-NEWS"]
                var statuses = [try await device.record(code).status]
                for call in ["checkauthn", "preauthorize"] {
                    statuses.append(
                        try await device.cluster.send(Call("GET", "/api/v1/\(call)/\(code)", query: query, headers: device.headers)).status)
                }
                return statuses
            }
            #expect(try await told(other) == [404, 200, 200])
            try pass(minutes(9))
            #expect(try await told(other) == [404, 200, 200])
            try pass(minutes(2))
            #expect(try await told(other) == [404, 403, 412])
            #expect(try await told(maker) == [200, 200, 200])
            try pass(minutes(18))
            #expect(try await told(maker) == [200, 200, 200], "a minute before the end")
            try pass(minutes(2))
            #expect(try await told(maker) == [404, 403, 412])
            try pass(minutes(58))
            /// Asks from an address that pays for guesses; loopback does not.
            func asks(_ device: Device, _ address: String, _ times: Int) async throws -> [HTTPAnswer] {
                var answers: [HTTPAnswer] = []
                let headers = device.headers.merging(["X-Forwarded-For": address]) { $1 }
                for _ in 0..<times {
                    answers.append(
                        try await device.cluster.send(Call("GET", "/api/v1/checkauthn/\(code)", query: ["requestor": "ACME1"], headers: headers)))
                }
                return answers
            }
            #expect(try await asks(maker, "203.0.113.98", 8).allSatisfy { $0.status == 403 }, "59 minutes after the end")
            let guesses = try await asks(other, "203.0.113.99", 6)
            #expect(guesses.map(\.status) == [403, 403, 403, 403, 403, 429] && guesses.last?.header("retry-after") == "30")
        }

        @Test(
            "rest-v2 #38, #55, #56, clients #77, #78: a code that was used tells others for ten minutes and its maker past its end; one that was not is over"
        )
        func codes() async throws {
            let (maker, idle, other) = (try await V2Device.make(), try await V2Device.make(), try await V2Device.make())
            let (used, unused) = (try await maker.signIn(), try await idle.code())
            func refusal(_ answer: HTTPAnswer) -> String? { answer.status == 400 ? answer.v2Error : "\(answer.status) \(answer.text)" }
            try pass(minutes(9))
            let told = try #require(try await other.profiles("profiles/code/\(used)")["NorthCable"]?["attributes"] as? [String: [String: Any]])
            let own = try #require(try await maker.profiles("profiles/code/\(used)")["NorthCable"]?["attributes"] as? [String: [String: Any]])
            #expect(told.keys.sorted() == ["userID"] && own.count > 1)
            #expect(told["userID"]?["value"] as? String == own["userID"]?["value"] as? String)
            try pass(minutes(2))
            #expect(try await refusal(other.get("profiles/code/\(used)")) == "invalid_authentication_session")
            #expect(try await refusal(other.get("profiles/code/AAAAAAA")) == "invalid_authentication_session")
            try pass(minutes(18))
            #expect(try await idle.profiles("profiles/code/\(unused)").isEmpty, "a minute before its end")
            try pass(minutes(2))
            for answer in [
                try await idle.get("profiles/code/\(unused)"), try await idle.get("sessions/\(unused)"),
                try await idle.post("sessions/\(unused)", idle.parameters), try await other.get("profiles/code/\(used)"),
            ] { #expect(refusal(answer) == "invalid_authentication_session") }
            for code in [used, unused] {
                let page = try await maker.cluster.send(Call("GET", "/api/v2/authenticate/ACME1/\(code)"))
                #expect(page.status == 400 && page.isHTML)
            }
            #expect(try await maker.code(["mvpd": "LakeTel"]) != used, "a newer code")
            #expect(try await maker.profiles("profiles/code/\(used)").keys.sorted() == ["NorthCable"])
            #expect(try await maker.decision("ACME1-NEWS").isAuthorized)
        }

        @Test("rest-v2 #2, clients #79, #85: a token that is over or revoked is 401; the client's next one finds code and login, from anywhere")
        func tokens() async throws {
            let client = try await Client.register("acme-tv")
            var device = try await V2Device.make(accessToken: try await client.accessToken())
            let (id, code) = (device.id, try await device.signIn())
            func answers(_ device: V2Device) async throws -> [HTTPAnswer] {
                [try await device.get("profiles/NorthCable"), try await device.get("profiles/code/\(code)"), try await device.get("profiles")]
            }
            func isRefused(_ answer: HTTPAnswer) -> Bool { answer.status == 401 && answer.v2Error == "invalid_access_token_client_application" }
            for _ in 0..<2 {
                try pass(.seconds(6 * 3600 - 60))
                for answer in try await answers(device) { #expect(answer.status == 200 && answer.text.contains("NorthCable")) }
                try pass(.seconds(61))
                for answer in try await answers(device) { #expect(isRefused(answer), "\(answer.status) \(answer.text)") }
                device = try await V2Device.make(id: id, accessToken: try await client.accessToken())
                for answer in try await answers(device) { #expect(answer.status == 200 && answer.text.contains("NorthCable")) }
            }
            var service = try await V2Device.make(id: id, accessToken: try await client.accessToken())
            service.information = ""
            service.others = ["User-Agent": "playback-service/3", "X-Forwarded-For": "203.0.113.85"]
            #expect(try await service.decision("ACME1-NEWS").isAuthorized)
            #expect(try await device.profiles().keys.sorted() == ["NorthCable"], "the first token goes on")
            #expect(try await Administrator.local().send("POST", "/clients/\(client.id)/revoke").status == 204)
            try await Condition.wait("the client is revoked") { try await answers(device).allSatisfy(isRefused) }
            #expect(try await isRefused(service.get("profiles/NorthCable")))
        }

        @Test("clients #76: the MVPD's answer to a login that was handed over counts once, from any agent, and for fifteen minutes")
        func handedOver() async throws {
            for isInTime in [true, false] {
                let device = try await V2Device.make()
                let url = device.cluster.gateway + "/api/v2/authenticate/ACME1/\(try await device.code())"
                let begun = try await device.cluster.exchange.send(
                    "GET", url, headers: [("Authorization", "Bearer \(device.accessToken)")], body: nil)
                var (person, elsewhere) = (Browser(exchange: device.cluster.exchange), Browser(exchange: device.cluster.exchange))
                // The stand-in's page lasts as long as our request: it is opened a minute later.
                try pass(minutes(1))
                let login = try await person.openLogin(begun: begun, at: url)
                try pass(minutes(13) + .seconds(isInTime ? 50 : 61))
                let message = try await person.answer(login, name: "ada")
                let answer = try await elsewhere.submit(message)
                #expect(answer.status == (isInTime ? 302 : 400), "\(answer.status) \(answer.text)")
                #expect(try await person.submit(message).status == 400)
                #expect(try await device.profiles().count == (isInTime ? 1 : 0))
            }
        }

        @Test("rest-v2 #49, #73: a trial permits until its time is over; then a decision says so, and its profile is 403")
        func trial() async throws {
            let device = try await V2Device.make()
            #expect(try await device.decision("ACME1-NEWS", at: "Preview10").isAuthorized)
            try pass(minutes(9))
            #expect(try await device.decision("ACME1-KIDS", at: "Preview10").isAuthorized)
            #expect(try await device.get("profiles/Preview10").status == 200)
            try pass(minutes(1))
            let over = try await device.decision("ACME1-NEWS", at: "Preview10")
            #expect(!over.isAuthorized && over["source"] as? String == "temppass" && over.mediaToken == nil)
            #expect(over.errorCode == "temporary_access_duration_limit_exceeded" && over.errorStatus == 403 && over.errorAction == "authentication")
            let told = try await device.get("profiles/Preview10")
            #expect(told.status == 403 && told.v2Error == "temporary_access_duration_limit_exceeded", "\(told.text)")
            #expect(told.object["action"] as? String == "authentication")
        }

        @Test("rest-v2 #60, clients #35, #77: a profile that is over is told no more, decides nothing, and its kept token signs in anew")
        func end() async throws {
            let client = try await Client.register("acme-tv")
            var app = try await SdkApp.web()
            let token = try await app.signedIn()
            let permit = try await app.permit(token)
            let first = try await V2Device.make(accessToken: try await client.accessToken())
            let code = try await first.signIn()
            let end = try #require(try await first.profiles()["NorthCable"]?["notAfter"] as? Int)
            try pass(.seconds(Int64(end) / 1000 - first.cluster.now.milliseconds / 1000 - 30))
            let device = try await V2Device.make(id: first.id, accessToken: try await client.accessToken())
            #expect(try await device.profiles("profiles/code/\(code)").keys.sorted() == ["NorthCable"])
            app.bearer = nil
            #expect(try await app.authorize(token).text.contains("authzToken"), "no bearer is needed")
            try pass(.seconds(31))
            for rest in ["profiles", "profiles/NorthCable"] { #expect(try await device.profiles(rest).isEmpty) }
            let decision = try await device.decision("ACME1-NEWS")
            #expect(decision.errorCode == "authenticated_profile_expired" && decision.errorStatus == 403 && decision.errorAction == "authentication")
            let byCode = try await device.get("profiles/code/\(code)")
            #expect(byCode.status == 400 && byCode.v2Error == "invalid_authentication_session", "\(byCode.text)")
            for bearer in [nil, try await Client.register("acme-tv").accessToken()] {
                app.bearer = bearer
                #expect(try await app.authorize(token).isPendingLogout)
                #expect(try await app.shortAuthorize(permit).isPendingLogout)
            }
            let again = try await app.permit(try await app.signedIn())
            #expect(try await app.shortAuthorize(again).text.hasPrefix("<signatureInfo>"))
        }
    }
}
