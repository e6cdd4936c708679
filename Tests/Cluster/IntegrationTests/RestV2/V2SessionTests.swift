@testable import CommandKit
@testable import Simulation
import Foundation
import Testing

extension RestV2Tests {
    @Suite("Sessions")
    struct SessionTests {
        @Test("rest-v2 #1, #3-#11, #15: bearer, service provider and device are checked in this order")
        func common() async throws {
            let device = try await V2Device.make()
            func refusal(_ path: String, without absent: String = "", _ changes: [String: String] = [:], method: String = "GET") async throws
                -> [String]
            {
                let headers = device.headers.merging(changes) { $1 }.filter { $0.key != absent }
                let answer = try await device.cluster.send(Call(method, path, headers: headers))
                return [String(answer.status), answer.v2Error ?? answer.text]
            }
            let profiles = "/api/v2/ACME1/profiles"
            #expect(try await refusal(profiles, without: "Authorization") == ["401", "invalid_access_token_client_application"])
            let foreign = try await V2Device.make("BRAVO").accessToken
            #expect(try await refusal(profiles, ["Authorization": "Bearer \(foreign)"]) == ["401", "invalid_access_token_service_provider"])
            #expect(try await refusal("/api/v2/NOBODY/profiles") == ["400", "invalid_parameter_service_provider"])
            #expect(try await refusal(profiles, without: "AP-Device-Identifier") == ["400", "invalid_header_device_identifier"])
            for identifier in ["serial QUJD", "fingerprint", "fingerprint ***"] {
                #expect(try await refusal(profiles, ["AP-Device-Identifier": identifier]) == ["400", "invalid_header_device_identifier"])
            }
            #expect(try await refusal(profiles, ["X-Device-Info": "***"]) == ["400", "invalid_header_device_info"])
            #expect(try await refusal(profiles, method: "PUT")[0] == "405")
            // Information that lacks what the reference calls required, and none at all: then it is the browser's.
            let scant = Device.encoded(#"{"model":"TV 5","version":"1","osName":"tvOS","osVersion":"9"}"#)
            #expect(try await refusal(profiles, ["X-Device-Info": scant])[0] == "200")
            #expect(try await refusal(profiles, without: "X-Device-Info", ["User-Agent": ClientTests.browser])[0] == "200")
            let headers = device.headers.merging(["User-Agent": ClientTests.browser, "Content-Type": "application/x-www-form-urlencoded"]) { $1 }
                .filter { $0.key != "X-Device-Info" }
            let made = try await device.cluster.send(Call("POST", device.path("sessions"), headers: headers, body: ""))
            let read = try await device.get("sessions/\(try #require(made.object["code"] as? String, "\(made.text)"))")
            let system = (read.object["device"] as? [String: Any])?["operatingSystem"] as? [String: Any]
            #expect(system?["name"] as? String == "Windows", "\(read.text)")
        }

        @Test("rest-v2 #17, #19, #20: the configuration names the service provider, and what an MVPD is on the platform that asks, on no other one")
        func configuration() async throws {
            let device = try await V2Device.make()
            func mvpds(_ information: String? = nil) async throws -> [String: [String: Any]] {
                var headers = ["Authorization": "Bearer \(device.accessToken)"]
                headers["X-Device-Info"] = information
                let answer = try await device.cluster.send(Call("GET", device.path("configuration"), headers: headers))
                let requestor = try #require(answer.object["requestor"] as? [String: Any], "\(answer.status) \(answer.text)")
                #expect(answer.status == 200 && requestor["id"] as? String == "ACME1")
                let list = try #require(requestor["mvpds"] as? [[String: Any]])
                return Dictionary(list.map { ($0["id"] as? String ?? "", $0) }) { first, _ in first }
            }
            let plain = try await mvpds()
            #expect(plain["Preview10"]?["isTempPass"] as? Bool == true && plain["NorthCable"]?["isTempPass"] as? Bool == false)
            let names: Set = ["boardingStatus", "platformMappingId", "enablePlatformServices", "displayInPlatformPicker"]
            let apple = try await mvpds(Device.encoded(#"{"primaryHardwareType":"SetTopBox","model":"AppleTV11,1","osName":"tvOS"}"#))
            // Where nothing says what asks, the platforms that an MVPD is on are told (rest-v1 §3.3).
            for list in [apple, plain] {
                for (id, status, mapping) in [("NorthCable", "SUPPORTED", "north-cable"), ("LakeTel", "PICKER", "lake-tel")] {
                    let entry = try #require(list[id])
                    #expect(entry["boardingStatus"] as? String == status && entry["platformMappingId"] as? String == mapping, "\(entry)")
                    #expect(entry["enablePlatformServices"] as? Bool == true && entry["displayInPlatformPicker"] as? Bool == true, "\(entry)")
                }
                #expect(try names.isDisjoint(with: #require(list["OpenFiber"]).keys))
            }
            let roku = try await mvpds(Device.encoded(#"{"primaryHardwareType":"SetTopBox","model":"4662X","osName":"Roku OS"}"#))
            #expect(roku.keys.sorted() == apple.keys.sorted() && roku.values.allSatisfy { names.isDisjoint(with: $0.keys) }, "\(roku)")
        }

        @Test("rest-v2 #21, #22: with all parameters a person signs in by the session's address")
        func complete() async throws {
            let device = try await V2Device.make()
            let answer = try await device.session()
            #expect(answer.step == ["authenticate", "interactive", "none"])
            let code = try #require(answer.object["code"] as? String)
            #expect(code.count == 7 && answer.object["url"] as? String == "/api/v2/authenticate/ACME1/\(code)")
            let start = try #require((answer.object["notBefore"] as? String).flatMap { Int64($0) })
            let end = try #require((answer.object["notAfter"] as? String).flatMap { Int64($0) })
            #expect(end - start == 1_800_000)
            #expect(UUID(uuidString: answer.object["sessionId"] as? String ?? "") != nil && answer.object["mvpd"] as? String == "NorthCable")
        }

        @Test("rest-v2 #23, #24, #32, #33, #36, #37: what is missing is named, and added on the same code by another app")
        func resumed() async throws {
            let device = try await V2Device.make()
            let empty = try await device.post("sessions", [:])
            #expect(empty.step == ["resume", "direct", "none"])
            #expect(empty.object["missingParameters"] as? [String] == ["mvpd", "domainName", "redirectUrl"])
            let code = try #require(empty.object["code"] as? String)
            #expect(empty.object["url"] as? String == "/api/v2/ACME1/sessions/\(code)")
            let second = try await V2Device.make()
            let retry = try await second.post("sessions/\(code)", ["mvpd": "NorthCable", "domainName": "acme.example"])
            #expect(retry.step == ["retry", "direct", "none"] && retry.object["missingParameters"] as? [String] == ["redirectUrl"])
            let read = try await second.get("sessions/\(code)")
            let existing = try #require(read.object["existingParameters"] as? [String: String])
            #expect(existing == ["serviceProvider": "ACME1", "mvpd": "NorthCable", "domainName": "acme.example"])
            #expect(read.object["missingParameters"] as? [String] == ["redirectUrl"])
            #expect((read.object["device"] as? [String: Any])?["model"] as? String == "Test TV" && read.object["notAfter"] is String)
            let done = try await second.post("sessions/\(code)", ["redirectUrl": device.end])
            #expect(done.step == ["authenticate", "interactive", "none"] && done.object["code"] as? String == code)
            #expect(try await second.get("sessions/\(code)").object["missingParameters"] == nil)
        }

        @Test("rest-v2 #29-#31, #34, #35, #122: what is wrong is refused by its own code")
        func refused() async throws {
            let device = try await V2Device.make()
            func refusal(_ changes: [String: String]) async throws -> String? {
                let answer = try await device.post("sessions", device.parameters.merging(changes) { $1 })
                return answer.status == 400 ? answer.v2Error : "\(answer.status) \(answer.text)"
            }
            #expect(try await refusal(["mvpd": "NoCable"]) == "invalid_parameter_mvpd")
            for address in ["not a url", "javascript:alert(1)", "https://foreign.example/", "unknown-scheme://end"] {
                #expect(try await refusal(["redirectUrl": address]) == "invalid_parameter_redirect_url", "\(address)")
            }
            #expect(try await device.post("sessions", device.parameters.merging(["redirectUrl": "adobepass://ios.app"]) { $1 }).status == 200)
            #expect(try await device.post("sessions/ABCDEFG", [:]).v2Error == "invalid_authentication_session")
            for method in ["GET", "POST"] {
                let answer = try await device.cluster.send(Call(method, device.path("sessions/!!"), headers: device.headers))
                #expect(answer.status == 400 && answer.v2Error == "invalid_parameter_code")
            }
            let page = try await device.cluster.send(Call("GET", "/api/v2/authenticate/ACME1/ABCDEFG"))
            #expect(page.status == 400 && page.isHTML, "rest-v2 #41")
        }

        @Test("clients #72: any domain is one, blank is none, and what is no domain is missing")
        func domains() async throws {
            let device = try await V2Device.make()
            for domain in ["nbc.com", "https://amc.com", "fox.com:443/path", "adobe.com", "www.tcm.com", "Größe.example"] {
                let answer = try await device.session(["domainName": domain])
                #expect(answer.step[0] == "authenticate", "\(domain)")
                let code = try #require(answer.object["code"] as? String)
                let existing = try await device.get("sessions/\(code)").object["existingParameters"] as? [String: String]
                #expect(existing?["domainName"] == domain)
            }
            for domain in ["", "   ", String(repeating: "a", count: 5000), "a\nb"] {
                let answer = try await device.session(["domainName": domain])
                #expect(answer.object["missingParameters"] as? [String] == ["domainName"], "\(domain.prefix(10))")
            }
        }

        @Test("rest-v2 #39: a second session of the client's device ends the first, one of REST v1 ends none")
        func replaced() async throws {
            let device = try await V2Device.make()
            let first = try await device.code()
            _ = try await device.former.code()
            #expect(try await device.get("sessions/\(first)").status == 200)
            let second = try await device.code()
            #expect(try await device.get("sessions/\(first)").v2Error == "invalid_authentication_session")
            #expect(try await device.get("sessions/\(second)").status == 200)
            // Another device of the client, and another client on the device, have their own.
            _ = try await device.other().code()
            _ = try await V2Device.make(id: device.id).code()
            #expect(try await device.get("sessions/\(second)").status == 200)
        }

        @Test("rest-v2 #25, #40, #54, #57, #110: a login by the code makes the profile of the device that asked for it, once")
        func login() async throws {
            let device = try await V2Device.make()
            let code = try await device.code()
            #expect(try await device.profiles("profiles/code/\(code)").isEmpty)
            let url = device.cluster.gateway + "/api/v2/authenticate/ACME1/\(code)"
            let begun = try await device.cluster.exchange.send("GET", url, headers: [], body: nil)
            #expect(begun.status == 302 && begun.header("set-cookie") != nil)
            let answer = try await device.login(code)
            #expect(answer.status == 302 && answer.header("location") == device.end)
            #expect(try await device.profiles("profiles/code/\(code)").keys.sorted() == ["NorthCable"])
            #expect(try await device.profiles().keys.sorted() == ["NorthCable"])
            #expect(try await device.other().profiles().isEmpty)
            #expect(try await device.post("sessions/\(code)", [:]).step == ["authorize", "direct", "authenticated"])
            let again = try await device.cluster.send(Call("GET", "/api/v2/authenticate/ACME1/\(code)"))
            #expect(again.status == 400 && again.isHTML)
            let next = try await device.session()
            #expect(next.step == ["authorize", "direct", "authenticated"] && next.object["code"] == nil)
            #expect(next.object["url"] as? String == "/api/v2/ACME1/decisions/authorize/NorthCable")
        }

        @Test("clients #100: unknown codes at 2.3, 2.4, 2.5 and 2.8 are one account of the address; after five a right one has to wait too")
        func guesses() async throws {
            var device = try await V2Device.make()
            let own = try await device.code()
            device.others = ["X-Forwarded-For": "203.0.113.100"]
            func ask(_ call: Int, _ code: String) async throws -> HTTPAnswer {
                switch call % 4 {
                case 0: try await device.post("sessions/\(code)", device.parameters)
                case 1: try await device.get("sessions/\(code)")
                case 2: try await device.cluster.send(Call("GET", "/api/v2/authenticate/ACME1/\(code)", headers: device.others))
                default: try await device.get("profiles/code/\(code)")
                }
            }
            for (call, last) in ["B", "C", "D", "E", "F"].enumerated() {
                #expect(try await ask(call, "AAAAAA\(last)").status == 400, "call \(call)")
            }
            for call in 0..<4 {
                let answer = try await ask(call, own)
                #expect(answer.status == 429 && (answer.header("retry-after").flatMap { Int($0) } ?? 0) > 20, "call \(call): \(answer.text)")
            }
        }

        @Test("clients #73: a login that the code's maker begins may be finished by any agent, without a cookie")
        func handedOver() async throws {
            let device = try await V2Device.make()
            let code = try await device.code()
            let url = device.cluster.gateway + "/api/v2/authenticate/ACME1/\(code)"
            let begun = try await device.cluster.exchange.send("GET", url, headers: [("Authorization", "Bearer \(device.accessToken)")], body: nil)
            #expect(begun.header("set-cookie") == nil)
            var person = Browser(exchange: device.cluster.exchange)
            let end = try await person.complete(begun, at: url, name: "ada")
            #expect(end.status == 302 && end.header("location") == device.end)
            #expect(try await device.profiles("profiles/code/\(code)").keys.sorted() == ["NorthCable"])
        }

        @Test("clients #81: begun by a program, then in two browsers: whoever finishes first signs in, and what the others began is over")
        func begunAgain() async throws {
            let device = try await V2Device.make()
            let code = try await device.code(["mvpd": "LakeTel"])
            let url = device.cluster.gateway + "/api/v2/authenticate/ACME1/\(code)"
            let page = try await device.cluster.exchange.send(
                "GET", url, headers: [("Authorization", "Bearer \(device.accessToken)"), ("Accept", "text/html,*/*")], body: nil)
            let form = try #require(WebForm(html: page.text), "\(page.status) \(page.text)")
            #expect(page.text.components(separatedBy: "<form").count == 2 && form.action.hasPrefix("http") && form.method == "post")
            #expect(form.fields.map(\.name).sorted() == ["RelayState", "SAMLRequest"])
            var (first, second) = (Browser(exchange: device.cluster.exchange), Browser(exchange: device.cluster.exchange))
            let (begun, begunAgain) = (try await first.visit(url), try await second.visit(url))
            let end = try await second.complete(begunAgain, at: url, name: "ada")
            #expect(end.status == 302 && end.header("location") == device.end, "\(end.text)")
            var person = Browser(exchange: device.cluster.exchange)
            #expect(try await first.complete(begun, at: url, name: "ada").status == 400)
            #expect(try await person.complete(page, at: url, name: "ada").status == 400)
            #expect(try await device.profiles("profiles/code/\(code)").keys.sorted() == ["LakeTel"])
        }

        @Test("clients #84: the three texts that clients look for stand at every call that refuses so")
        func texts() async throws {
            let device = try await V2Device.make()
            let code = try await device.code()
            let nowhere = V2Device(cluster: device.cluster, provider: "NOBODY", id: device.id, accessToken: device.accessToken)
            let stranger = V2Device(
                cluster: device.cluster, provider: "ACME1", id: device.id, accessToken: try await V2Device.make("BRAVO").accessToken)
            for (sender, mvpd, words, refusal) in [
                (device, "ParkedTV", ["does not exist or is disabled"], "invalid_integration"),
                (nowhere, "NorthCable", ["service provider parameter value is missing or invalid"], "invalid_parameter_service_provider"),
                (stranger, "NorthCable", ["access token", "invalid service provider"], "invalid_access_token_service_provider"),
            ] {
                let parameters = device.parameters.merging(["mvpd": mvpd]) { $1 }
                for answer in [
                    try await sender.post("sessions", parameters), try await sender.post("sessions/\(code)", parameters),
                    try await sender.decide("authorize", ["ACME1-NEWS"], at: mvpd),
                    try await sender.decide("preauthorize", ["ACME1-NEWS"], at: mvpd),
                    try await sender.get("logout/\(mvpd)", ["redirectUrl": device.end]),
                ] {
                    let message = (answer.object["message"] as? String ?? "").lowercased()
                    #expect(answer.v2Error == refusal && words.allSatisfy(message.contains), "\(answer.text)")
                }
            }
        }

        @Test("clients #75: begun without the maker's bearer, only the browser that began it may finish")
        func boundToBrowser() async throws {
            let (device, stranger) = (try await V2Device.make(), try await V2Device.make())
            for token in ["", "broken", stranger.accessToken] {
                let code = try await device.code()
                let url = device.cluster.gateway + "/api/v2/authenticate/ACME1/\(code)"
                let headers = token.isEmpty ? [] : [("Authorization", "Bearer \(token)")]
                let begun = try await device.cluster.exchange.send("GET", url, headers: headers, body: nil)
                #expect(begun.header("set-cookie") != nil)
                var person = Browser(exchange: device.cluster.exchange)
                #expect(try await person.complete(begun, at: url, name: "ada").status == 400)
                #expect(try await device.profiles("profiles/code/\(code)").isEmpty)
            }
        }
    }
}
