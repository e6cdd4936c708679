@testable import ClusterCommands
@testable import CommandKit
import Clocks
import Foundation
import Testing

extension BridgeTests {
    @Test("bridge B59: an integration's keys narrow what upstream tells; what came plain is encrypted for the programmer where a key says so")
    func narrowsMetadata() async throws {
        let device = try await Device.make()
        try await signIn(device, at: "HillTel")
        let clear = try #require(try await device.metadata().data?["userID"] as? String)
        try await changing("/integrations/ACME1/HillTel") { record in
            record["metadataKeys"] = [["key": "userID", "encrypted": true], "channelID"] as [Any]
        } until: {
            (try await device.metadata().object["encrypted"] as? [String]) == ["userID"]
        } _: {
            let data = try #require(try await device.metadata().data)
            #expect(Set(data.keys) == ["userID", "channelID"], "\(data.keys)")
            #expect(try device.opened(data["userID"]) == clear)
        }
    }

    @Test("bridge B7: a provider moves to upstream and back; a session stays where it began, a new login goes where it leads now")
    func moves() async throws {
        let upstream = try await upstream()
        let (old, moved) = (try await Device.make(), try await Device.make())
        try await old.signIn()
        func leadsUpstream() async throws -> Bool {
            let device = try await Device.make()
            return try await device.authenticate(try await device.code()).header("location")?.hasPrefix(upstream.address) == true
        }
        try await changing("/integrations/ACME1/NorthCable") { record in
            record = ["requestor": "ACME1", "mvpd": "NorthCable", "upstream": true, "metadataKeys": [String]()]
        } until: {
            try await leadsUpstream()
        } _: {
            try await signIn(moved, at: "NorthCable")
            #expect(try await old.checkAuthn() == 200)
            try await upstream.forgetCalls()
            #expect(try await old.authorize("ACME1-NEWS").status == 200)
            #expect(try await upstream.count("authorize") == 0)
            #expect(try await moved.authorize("ACME1-SPORT").status == 200)
            #expect(try await upstream.count("authorize") == 1)
        }
        try await Condition.wait("it is ours again", within: .seconds(15)) { try await !leadsUpstream() }
        #expect(try await moved.checkAuthn() == 200)
        try await upstream.forgetCalls()
        #expect(try await moved.authorize("ACME1-NEWS").status == 200)
        #expect(try await upstream.count("authorize") == 1)
        #expect(try await moved.logout() == 204)
        #expect(try await upstream.count("logout") == 1)
        try await moved.signIn()
        try await upstream.forgetCalls()
        #expect(try await moved.authorize("ACME1-NEWS").status == 200)
        #expect(try await upstream.entries().isEmpty)
    }

    @Test("bridge B8, B96: a shorter time and fewer calls count from the next call on; an upstream that hangs holds up nobody else")
    func bounds() async throws {
        let upstream = try await upstream()
        let (device, direct) = (try await Device.make(), try await Device.make())
        try await signIn(device)
        try await direct.signIn()
        func time(_ body: () async throws -> Void) async rethrows -> Duration {
            let start = ContinuousClock.now
            try await body()
            return start.duration(to: .now)
        }
        try await upstream.fail("authorize", ["kind": "delay", "milliseconds": 2500, "times": 0])
        var number = 0
        try await changing("/upstreams/vendor") { record in
            record["timeoutsMs"] = ["connect": 500, "list": 2000, "session": 2000, "decision": 1200, "total": 3000]
            record["limits"] = ["inFlight": 3, "deviceBurst": 1000, "devicePerSecond": 1000]
        } until: {
            number += 1
            return try await device.authorize("ACME1-TRY-\(number)").status == 503
        } _: {
            let answers = try await withThrowingTaskGroup(of: (status: Int, took: Duration).self) { group in
                for number in 0..<6 {
                    group.addTask {
                        let start = ContinuousClock.now
                        let answer = try await device.authorize("ACME1-HANG-\(number)")
                        return (answer.status, start.duration(to: .now))
                    }
                }
                try await Task.sleep(for: .milliseconds(200))
                #expect(try await direct.authorize("ACME1-SPORT").status == 200)
                #expect(try await direct.mediaToken("ACME1-SPORT").status == 200)
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.allSatisfy { $0.status == 503 }, "\(answers)")
            #expect(answers.count { $0.took > .milliseconds(1000) } == 3 && answers.allSatisfy { $0.took < .milliseconds(2500) }, "\(answers)")
            #expect(try await device.checkAuthn() == 200)
        }
        try await upstream.comeBack()
        try await Condition.wait("it decides again", within: .seconds(30)) { try await device.authorize("ACME1-NEWS").status == 200 }
    }

    @Test("bridge B98: each device has its own room upstream; where upstream counts all as one, operators hear of it")
    func keepsPace() async throws {
        let upstream = try await upstream()
        func devices(_ count: Int) async throws -> [Device] {
            var devices: [Device] = []
            let token = try await Client.register("acme-tv").accessToken()
            for number in 0..<count {
                var device = Device(cluster: try TestCluster.running(), requestor: "ACME1", id: UUID().uuidString, accessToken: token)
                device.forwarded = "99.224.\(Int.random(in: 1...250)).\(number + 1)"
                devices.append(device)
            }
            return devices
        }
        try await upstream.behave(["throttle": ["isOn": true]])
        let people = try await devices(50)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for device in people {
                group.addTask {
                    try await signIn(device)
                    #expect(try await device.checkAuthn() == 200)
                    #expect(try await device.preauthorize("ACME1-NEWS,ACME1-SPORT").status == 200)
                    #expect(try await device.authorize("ACME1-NEWS").status == 200)
                    #expect(try await device.mediaToken("ACME1-NEWS").status == 200)
                    #expect(try await device.get("/api/v1/tokens/usermetadata").status == 200)
                }
            }
            try await group.waitForAll()
        }
        #expect(try await upstream.entries().allSatisfy { $0.status != 429 })
        try await upstream.behave(["throttle": ["isOn": true, "by": "peer", "burst": 0]])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for device in people.prefix(30) { group.addTask { _ = try await device.authorize("ACME1-SPORT") } }
            try await group.waitForAll()
        }
        try await upstream.behave(["throttle": ["isOn": false]])
        let log = people[0].cluster.home.logs
        try await Condition.wait("the alarm is in the log") {
            let files = try FileManager.default.contentsOfDirectory(at: log, includingPropertiesForKeys: nil)
            return files.contains { file in
                file.lastPathComponent.hasPrefix("authentication")
                    && (try? Data(contentsOf: file))?.range(of: Data("bridge.throttled_as_one".utf8)) != nil
            }
        }
    }

    @Test("bridge B99: while upstream is away each call answers as the specification says, and works again when it is back")
    func degradesByTheBook() async throws {
        let upstream = try await upstream()
        let (device, fresh, leaving) = (try await Device.make(), try await Device.make(), try await Device.make())
        try await signIn(device)
        try await signIn(leaving, as: "ben")
        #expect(try await device.authorize("ACME1-NEWS").status == 200)
        #expect(try await device.preauthorize("ACME1-NEWS").status == 200)
        try await upstream.goAway()
        let client = try await Client.register("acme-tv")
        _ = try await client.accessToken()
        #expect(try await BridgeTrait.list("ACME1", of: device.cluster).contains("CoastCable"))
        let code = try await fresh.code()
        #expect(try await fresh.record(code).status == 200)
        #expect(try await fresh.authenticate(code, mvpd: "CoastCable").status == 503)
        #expect(try await device.checkAuthn() == 200)
        #expect(try await device.authnToken().status == 200)
        #expect(try await device.get("/api/v1/tokens/usermetadata").status == 200)
        #expect(try await fresh.checkAuthn() == 403)
        #expect(try await fresh.authnToken().status == 404)
        #expect(try await device.authorize("ACME1-NEWS").status == 200)
        #expect(try await device.mediaToken("ACME1-NEWS").status == 200, "it waited")
        #expect(try await device.mediaToken("ACME1-NEWS").status == 503)
        #expect(try await device.authzToken("ACME1-NEWS").status == 200)
        #expect(try await device.authorize("ACME1-SPORT").status == 503)
        #expect(try await device.preauthorize("ACME1-SPORT").status == 503)
        #expect(try await leaving.logout() == 204)
        #expect(try await leaving.checkAuthn() == 403)
        let preview = [("requestor_id", "ACME1"), ("deviceId", fresh.id), ("mso_id", "TrialUp"), ("domain_name", fresh.domain)]
        #expect(try await fresh.cluster.send(.form("/api/v1/authenticate/freepreview", preview, headers: fresh.headers)).status == 503)
        try await fresh.signIn()
        #expect(try await fresh.authorize("ACME1-NEWS").status == 200)
        try await upstream.comeBack()
        try await upstream.forgetCalls()
        let back = ContinuousClock.now
        try await Condition.wait("plays work", within: .seconds(20)) { try await device.authorize("ACME1-SPORT").status == 200 }
        #expect(try await device.mediaToken("ACME1-NEWS").status == 200)
        #expect(try await device.preauthorize("ACME1-SPORT").status == 200)
        try await Condition.wait("logins work", within: .seconds(20)) {
            try await fresh.authenticate(try await fresh.code(), mvpd: "CoastCable").status == 302
        }
        try await Condition.wait("upstream has heard of the logout", within: .seconds(20)) { try await upstream.count("logout") >= 1 }
        #expect(back.duration(to: .now) < .seconds(20))
    }

    @Test("bridge B4, B87: our own rule that refuses needs no upstream; those that let in need verifiers that trust us, and then nobody else")
    func degradesHere() async throws {
        let upstream = try await upstream()
        let device = try await Device.make()
        try await signIn(device)
        try await upstream.forgetCalls()
        let control = try DegradationControl.running()
        try await control.during("AuthZNone", at: "ACME1", mvpd: "CoastCable") {
            try await Condition.wait("authorization has it") { try await device.authorize("ACME1-SPORT").status == 403 }
            try await upstream.forgetCalls()
            #expect(try await device.authorize("ACME1-MOVIES").status == 403)
            #expect(try await upstream.count("authorize") == 0)
        }
        let olga = try await Administrator.fresh()
        for kind in ["AuthNAll", "AuthZAll"] {
            let rule: [String: Any] = [
                "kind": kind, "requestor": "ACME1", "mvpds": ["CoastCable"], "reason": "a test",
                "endsAt": (SystemClock().now() + .seconds(600)).milliseconds,
            ]
            let refused = try await olga.send("POST", "/degradation", rule)
            #expect(refused.status == 422 && refused.problemFields == ["mvpds[0]"], "\(refused.status) \(refused.text)")
        }
        let changed = try await olga.change("/requestors/ACME1") { record in
            var bridge = record["upstream"] as? [String: Any] ?? [:]
            bridge["localMediaTokens"] = true
            record["upstream"] = bridge
        }
        #expect(changed.status == 200, "\(changed.text)")
        try await olga.push("Verifiers trust us")
        try await control.during("AuthNAll", at: "ACME1", mvpd: "CoastCable") {
            try await upstream.goAway()
            let viewer = try await Device.make()
            try await Condition.wait("authentication has it", within: .seconds(15)) {
                try await viewer.authenticate(try await viewer.code(), mvpd: "CoastCable").status == 302
            }
            #expect(try await viewer.checkAuthn() == 200)
            #expect(try await viewer.authorize("ACME1-NEWS").status == 200)
            let media = try await viewer.mediaToken("ACME1-NEWS")
            #expect(media.status == 200, "\(media.text)")
            let token = try #require(media.object["serializedToken"] as? String)
            let verified = try Program.run(
                viewer.cluster.starter.binaries.appendingPathComponent("boxoffice").path,
                [
                    "verify", "--requestor", "ACME1", "--resource", "ACME1-NEWS", "--certificate",
                    viewer.cluster.home.pki.appendingPathComponent("media-token.crt").path, token,
                ])
            #expect(verified.output.contains("VALID_TOKEN"), "\(verified.output)")
            try await upstream.comeBack()
        }
        #expect(
            try await olga.change("/requestors/ACME1") { record in
                var bridge = record["upstream"] as? [String: Any] ?? [:]
                bridge["localMediaTokens"] = nil
                record["upstream"] = bridge
            }.status == 200)
        try await olga.push("As before")
    }

    @Test("bridge B29: a channel that is upstream as a whole offers what upstream lists, by its own names and by ours")
    func offersWhole() async throws {
        let upstream = try await upstream()
        let olga = try await Administrator.fresh()
        let changed = try await olga.change("/requestors/BRAVO") { record in
            var bridge = record["upstream"] as? [String: Any] ?? [:]
            bridge["scope"] = "all"
            bridge["mvpdIds"] = ["TownTel": "TownTelephone"]
            record["upstream"] = bridge
        }
        #expect(changed.status == 200, "\(changed.text)")
        try await olga.push("Everything")
        let cluster = try TestCluster.running()
        try await Condition.wait("the gateway has it") { try await BridgeTrait.list("BRAVO", of: cluster).contains("CoastCable") }
        for id in ["TownTelephone", "VillageFiber"] {
            let mvpd: [String: Any] = ["displayName": id, "hasLogout": false]
            try await upstream.control("PUT", "mvpds/\(id)", mvpd)
            try await upstream.setIntegration("BRAVOUP", id, ["isEnabled": true])
        }
        var device = try await Device.make("BRAVO")
        // Upstream's list is one for each platform: this one was not asked for before.
        device.information = Device.encoded(#"{"primaryHardwareType":"TV","model":"AFTT","osName":"Fire OS"}"#)
        let code = try await device.code()
        try await Condition.wait("authentication has it") { try await device.authenticate(code, mvpd: "VillageFiber").status == 302 }
        #expect(try await device.authenticate(try await device.code(), mvpd: "TownTelephone").status == 400, "here it has another name")
        #expect(try await device.authenticate(try await device.code(), mvpd: "Nobody").status == 400)
        #expect(try await device.authenticate(try await device.code(), mvpd: "Somebody").status == 400)
        #expect(try await upstream.count("configuration") <= 2)
        let answer = try await cluster.send(Call("GET", "/api/v1/config/BRAVO.json", headers: ["X-Device-Info": device.information]))
        let record = answer.object["requestor"] as? [String: Any]
        let ids = (record?["mvpds"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String }
        #expect(ids.contains("TownTel") && ids.contains("VillageFiber") && !ids.contains("TownTelephone") && Set(ids).count == ids.count, "\(ids)")
        try await upstream.forgetCalls()
        let own = try await device.code()
        let begun = try await device.authenticate(own, mvpd: "TownTel")
        _ = try await upstream.signIn(at: try #require(begun.header("location"), "\(begun.status) \(begun.text)"))
        #expect(try await device.checkAuthn(code: own) == 200)
        let token = try await device.authnToken()
        #expect(token.object["mvpd"] as? String == "TownTel" && token.object["requestor"] as? String == "BRAVO", "\(token.text)")
        let session = try #require(try await upstream.entries("createSession").last)
        #expect(session.path.contains("/BRAVOUP/") && session.body.contains("TownTelephone"))
        let page = try await cluster.exchange.send("GET", "\(cluster.gateway)/activate/sign-in?code=\(try await device.code())&mvpd=VillageFiber")
        #expect(page.status == 400 && page.text.contains("only on the channel’s own page"), "\(page.text)")
        let cleaned = try await olga.change("/requestors/BRAVO") { record in
            record["upstream"] = ["upstream": "vendor", "serviceProvider": "BRAVOUP"]
        }
        #expect(cleaned.status == 200)
        try await olga.push("As before")
    }
}
