import Foundation
import Hummingbird
import HummingbirdTesting
import Logging
import Testing

@testable import SandboxApple
@testable import SandboxKit
@testable import SandboxProviders
@testable import SandboxService
@testable import SandboxVendor

/// The tests' control of the stand-in vendor (bridge §15.4).
@Suite struct VendorControlTests {
    private static func profiles(_ vendor: VendorParty, _ app: VendorParty.App, _ more: [String: String] = [:]) async throws -> AppleParty.Reply {
        try await vendor.get("/api/v2/ACME1/profiles?x=1", app.on(VendorParty.device, more))
    }

    // MARK: Log

    @Test func theLogKeepsWhatCame() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            _ = try await Self.profiles(vendor, app, ["X-Forwarded-For": "198.51.100.1", "Cookie": "a=b"])
            _ = try await vendor.decide(app, ["A"])
            let log = try await vendor.control(.get, "log?operation=profiles").json
            let entries = try #require(log["entries"] as? [[String: Any]])
            #expect(entries.count == 1 && entries[0]["query"] as? String == "x=1" && entries[0]["method"] as? String == "GET")
            #expect(entries[0]["status"] as? Int == 200 && entries[0]["outcome"] as? String == "empty")
            let headers = try #require(entries[0]["headers"] as? [String: String])
            #expect(headers["ap-device-identifier"] == "fingerprint ZGV2LTdmM2E=" && headers["cookie"] == "a=b")
            #expect(headers["authorization"] == "Bearer \(app.token)" && headers["host"] != nil)
            let all = try #require(try await vendor.control(.get, "log").json["entries"] as? [[String: Any]])
            #expect(all.compactMap { $0["operation"] as? String } == ["register", "token", "profiles", "authorize"])
            #expect(all[3]["body"] as? String == #"{"resources":["A"]}"#)
            let later = try #require(try await vendor.control(.get, "log?after=3").json["entries"] as? [[String: Any]])
            #expect(later.count == 1 && later[0]["number"] as? Int == 4)
            let counter = (log["counters"] as? [String: [String: Int]])?["profiles"]
            #expect(counter == ["calls": 1, "inFlight": 0, "mostInFlight": 1])
            try await vendor.control(.delete, "log")
            #expect(try await vendor.calls("profiles") == 0)
            #expect(try await Self.profiles(vendor, app).status == 200)
        }
    }

    @Test func theLogIsBounded() {
        var quiet = Logger(label: "sandbox")
        quiet.logLevel = .critical
        let log = VendorLog(logger: quiet)
        for number in 0...2 * VendorLog.limit {
            let call = VendorCall(
                operation: .profiles, method: "GET", path: "/\(number)", query: "", parameters: [:], headers: [:], body: [], peer: "",
                now: .init(seconds: 0))
            log.begin(.profiles)
            log.note(call, status: 200, outcome: "", fault: nil, took: .zero)
            log.end(.profiles)
        }
        let report = log.report(nil, after: 0, mvpdQuestions: 0)
        #expect(report.entries.count == VendorLog.limit && report.entries[0].path == "/\(VendorLog.limit + 1)")
        #expect(report.counters["profiles"]?.calls == 2 * VendorLog.limit + 1)
    }

    @Test func aTableForgetsTheOldest() {
        var table = BoundedTable<Int, Int>(limit: 3)
        for number in 0..<1000 {
            table[number] = number
            if number.isMultiple(of: 7) { table[number] = nil }
        }
        table[998] = 5
        #expect(table.values == [997, 5, 999] && table.count == 3 && table[996] == nil)
        table.keep { $0 > 900 }
        table[1] = 1
        #expect(table.values == [997, 999, 1])
    }

    @Test func resetForgetsAll() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            try await vendor.fault("profiles", #"{"kind": "reset", "times": 0}"#)
            try await vendor.control(.put, "mvpds/NewTel", #"{"displayName": "New"}"#)
            try await vendor.control(.post, "clock", #"{"offsetSeconds": 300}"#)
            try await vendor.control(.post, "reset")
            #expect(try await Self.profiles(vendor, app).status == 401)
            #expect(try await vendor.control(.get, "catalogue").json["mvpds"] as? [[String: Any]] != nil)
            #expect((try await vendor.control(.get, "catalogue").json["mvpds"] as? [Any])?.count == 5)
            #expect(try await vendor.control(.get, "faults").list.isEmpty)
            #expect(try await vendor.register(try await vendor.statement()).json["client_id_issued_at"] as? Int == 1_900_000_000)
        }
    }

    @Test func theClockCanBeWrong() async throws {
        try await VendorParty.run { vendor in
            try await vendor.control(.post, "clock", #"{"offsetSeconds": 300}"#)
            let reply = try await vendor.register(try await vendor.statement())
            #expect(reply.json["client_id_issued_at"] as? Int == 1_900_000_300)
            #expect(reply.headers[.date] == "Sun, 17 Mar 2030 17:51:40 GMT")
        }
    }

    @Test(
        "A control message that says nonsense is refused with the key's name",
        arguments: [
            ("PUT", "behaviour", #"{"sessionSecond": 1}"#, "sessionSecond"), ("PUT", "behaviour", #"{"sessionSeconds": 0}"#, "sessionSeconds"),
            ("PUT", "behaviour", #"{"throttle": {"perSecond": 0}}"#, "throttle.perSecond"),
            ("POST", "faults", #"{"faults": [{"kind": "answer"}]}"#, "faults[0].status"),
            ("POST", "faults", #"{"faults": [{"kind": "error"}]}"#, "faults[0].code"),
            ("POST", "faults", #"{"operations": ["nothing"], "faults": []}"#, "operations[0]"),
            ("POST", "clock", #"{"offsetSeconds": 99999999999}"#, "offsetSeconds"),
            ("PUT", "integrations/ACME1/Nobody", "{}", "mvpd"),
            ("PUT", "integrations/ACME1/HillTel", #"{"preauthorizeLimit": 0}"#, "preauthorizeLimit"),
            ("PUT", "decisions", #"[{"status": 1}]"#, "[0].status"), ("PUT", "mvpds/X", #"{"tempPass": {"seconds": 0}}"#, "tempPass.seconds"),
            ("POST", "profiles", #"[{"device": "d", "serviceProvider": "ACME1", "mvpd": "HillTel", "person": "zoe"}]"#, "person"),
            ("POST", "profiles", #"[{"device": "d", "serviceProvider": "ACME1", "mvpd": "HillTel", "person": "ada"}]"#, "client"),
            ("POST", "statements", #"{"id": ""}"#, "id"), ("POST", "partner-answers", #"{"request": "!", "person": "ada"}"#, "request"),
        ])
    func nonsense(_ method: String, _ path: String, _ body: String, _ key: String) async throws {
        try await VendorParty.run { vendor in
            let reply = try await vendor.send(try #require(.init(method)), "/control/\(path)", [:], body)
            #expect(reply.status == 400 && reply.text.contains(key), "\(reply.text)")
        }
    }

    @Test func pagesCannotControl() async throws {
        try await VendorParty.run { vendor in
            let page = try await vendor.send(.get, "/control/log", ["Origin": "https://evil.example"])
            let unknown = try await vendor.get("/control/log?operation=nothing")
            #expect(page.status == 403 && unknown.status == 400)
        }
    }

    // MARK: Faults

    @Test func answersCanBeScripted() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            try await vendor.fault("profiles", #"{"kind": "answer", "status": 503, "headers": {"Retry-After": "3"}, "times": 2}"#)
            try await vendor.fault(
                "profiles", #"{"kind": "answer", "status": 200, "body": "<html></html>", "headers": {"Content-Type": "text/html"}}"#)
            try await vendor.fault("profiles", #"{"kind": "answer", "status": 200, "bodyBase64": "//4A"}"#)
            try await vendor.fault("profiles", #"{"kind": "answer", "status": 200, "body": "{}", "padTo": 300000}"#)
            #expect(try await vendor.control(.get, "faults").list.count == 4)
            for _ in 0..<2 {
                let reply = try await Self.profiles(vendor, app)
                #expect(reply.status == 503 && reply.headers[.retryAfter] == "3" && reply.text.isEmpty)
            }
            let page = try await Self.profiles(vendor, app)
            #expect(page.text == "<html></html>" && page.headers[.contentType] == "text/html")
            #expect(try await Self.profiles(vendor, app).text.unicodeScalars.first == "\u{FFFD}")
            #expect(try await Self.profiles(vendor, app).text.utf8.count == 300_000)
            #expect(try await Self.profiles(vendor, app).text == #"{"profiles":{}}"#)
        }
    }

    @Test func errorsCanBeAskedFor() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            try await vendor.fault("authorize", #"{"kind": "error", "code": "invalid_configuration_platform", "details": "D"}"#)
            try await vendor.fault("authorize", #"{"kind": "error", "code": "later_code", "status": 409, "action": "retry"}"#)
            let known = try await vendor.decide(app)
            #expect(known.status == 500 && known["action"] == "configuration" && known["details"] == "D")
            let later = try await vendor.decide(app)
            #expect(later.status == 409 && later["code"] == "later_code" && later["action"] == "retry" && later["trace"] != nil)
        }
    }

    @Test func membersOfAGenuineAnswerCanBeChanged() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            try await vendor.fault("createSession", #"{"kind": "merge", "merge": {"url": "https://evil.example/x", "code": null}}"#)
            let session = try await vendor.session(app)
            #expect(session["url"] == "https://evil.example/x" && session["code"] == nil && session["sessionId"] != nil)
            try await vendor.signIn(app)
            try await vendor.fault("profiles", #"{"kind": "merge", "merge": {"profiles": {"CoastCable": {"notAfter": null}}}}"#)
            let profile = try #require(try await vendor.profiles(app)["CoastCable"])
            #expect(profile["notAfter"] == nil && profile["notBefore"] != nil)
        }
    }

    /// Sends a registration on a connection of its own, and waits for no answer.
    private static func registerApart(_ vendor: VendorParty) async throws -> TestClient {
        let caller = TestClient(host: "127.0.0.1", port: try #require(vendor.client.port))
        caller.connect()
        let body = ByteBuffer(string: #"{"software_statement": "\#(try await vendor.statement())"}"#)
        try await caller.executeAndDontWaitForResponse(
            .init("/o/client/register", method: .post, authority: "localhost", headers: [.contentType: "application/json"], body: body))
        return caller
    }

    /// The newest registration in the log, once it is there with its fault.
    private static func logged(_ vendor: VendorParty, _ kind: String) async throws -> [String: Any]? {
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            let entries = try await vendor.control(.get, "log?operation=register").json["entries"] as? [[String: Any]]
            if let entry = entries?.last, entry["fault"] as? String == kind { return entry }
        }
        return nil
    }

    @Test(arguments: [("reset", 0, 0), ("applyThenReset", 1, 0), ("truncate", 1, 201)])
    func connectionsCanEnd(_ kind: String, _ clients: Int, _ status: Int) async throws {
        try await VendorParty.run { vendor in
            try await vendor.fault("register", #"{"kind": "\#(kind)"}"#)
            let statement = try await vendor.statement()
            let caller = TestClient(host: "127.0.0.1", port: try #require(vendor.client.port))
            caller.connect()
            let body = ByteBuffer(string: #"{"software_statement": "\#(statement)"}"#)
            await #expect(throws: (any Error).self) {
                _ = try await caller.execute(
                    .init("/o/client/register", method: .post, authority: "localhost", headers: [.contentType: "application/json"], body: body))
            }
            let entry = try await Self.logged(vendor, kind)
            #expect(entry?["status"] as? Int == status)
            #expect(try await vendor.control(.get, "clients").list.count == clients)
            try? await caller.close(mode: .all)
        }
    }

    @Test func answersCanBeLate() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            try await vendor.fault("profiles", #"{"kind": "delay", "milliseconds": 80}"#)
            let begin = ContinuousClock.now
            #expect(try await Self.profiles(vendor, app).status == 200)
            #expect(.now - begin >= .milliseconds(80))
            try await vendor.control(.put, "behaviour", #"{"latencyMilliseconds": 30}"#)
            let second = ContinuousClock.now
            #expect(try await Self.profiles(vendor, app).status == 200)
            #expect(.now - second >= .milliseconds(30))
        }
    }

    @Test(arguments: [("hang", 0), ("applyThenHang", 1)])
    func callsCanHang(_ kind: String, _ clients: Int) async throws {
        try await VendorParty.run { vendor in
            try await vendor.fault("register", #"{"kind": "\#(kind)"}"#)
            let caller = try await Self.registerApart(vendor)
            let entry = try await Self.logged(vendor, kind)
            #expect(entry?["status"] as? Int == 0)
            let counters = try await vendor.control(.get, "log").json["counters"] as? [String: [String: Int]]
            #expect(counters?["register"]?["inFlight"] == 1)
            #expect(try await vendor.control(.get, "clients").list.count == clients)
            try? await caller.close(mode: .all)
        }
    }

    @Test func faultsCanBeNarrow() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            let faults =
                #"{"faults": [{"kind": "answer", "status": 500, "device": "tv-2", "times": 0}, {"kind": "answer", "status": 501, "mvpd": "HillTel", "times": 0}]}"#
            try await vendor.control(.post, "faults", faults)
            #expect(try await Self.profiles(vendor, app).status == 200)
            #expect(try await vendor.get("/api/v2/ACME1/profiles", app.on("tv-2")).status == 500)
            #expect(try await vendor.get("/api/v2/ACME1/profiles/HillTel", app.on()).status == 501)
            try await vendor.control(.delete, "faults")
            #expect(try await vendor.get("/api/v2/ACME1/profiles", app.on("tv-2")).status == 200)
            try await vendor.fault("profiles", #"{"kind": "answer", "status": 500, "after": 2}"#)
            var statuses: [Int] = []
            for _ in 0..<4 { statuses.append(try await Self.profiles(vendor, app).status) }
            #expect(statuses == [200, 200, 500, 200])
        }
    }

    // MARK: Profiles and catalogue

    @Test func profilesCanBeRemovedAndPutBack() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            try await vendor.signIn(app)
            try await vendor.signIn(app, mvpd: "HillTel")
            let before = try await vendor.get("/api/v2/ACME1/profiles", app.on()).text
            #expect(try await vendor.control(.get, "profiles?mvpd=HillTel&person=ada").list.count == 1)
            let removed = try await vendor.control(.delete, "profiles?device=\(VendorParty.device)")
            #expect(removed.list.count == 2)
            #expect(try await vendor.profiles(app).isEmpty)
            try await vendor.control(.post, "profiles", removed.text)
            #expect(try await vendor.get("/api/v2/ACME1/profiles", app.on()).text == before)
        }
    }

    @Test func aProfileCanBeMade() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            let profile = #"{"client": "\#(app.id)", "device": "tv-9", "serviceProvider": "ACME1", "mvpd": "HillTel", "person": "ben"}"#
            try await vendor.control(.post, "profiles", "[\(profile)]")
            #expect(try await vendor.profiles(app, device: "tv-9").keys.sorted() == ["HillTel"])
        }
    }

    @Test("bridge B29: an MVPD that is new") func newMvpd() async throws {
        try await VendorParty.run { vendor in
            let app = try await vendor.app()
            try await vendor.control(.put, "mvpds/NewTel", #"{"displayName": "New Tel", "hasLogout": true}"#)
            try await vendor.control(.put, "integrations/ACME1/NewTel", "{}")
            try await vendor.signIn(app, mvpd: "NewTel")
            #expect(try await vendor.profiles(app, "/NewTel").count == 1)
            try await vendor.control(.put, "service-providers/CINEUP", #"{"name": "Cine", "domains": ["cine.example"]}"#)
            #expect(try await vendor.get("/api/v2/CINEUP/configuration", app.bearer).status == 200)
        }
    }
}
