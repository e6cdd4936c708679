@testable import CommandKit
@testable import Simulation
import EntitlementClient
import EntitlementSimulator
import Foundation
import Testing

@Suite("Scripts of simulated devices")
struct DeviceScriptTests {
    private static func read(_ json: String) throws -> DeviceScript { try DeviceScript(json: json, file: "a.json") }

    @Test("each kind of step is read")
    func readsSteps() throws {
        let script = try Self.read(
            """
            {"devices": [{"name": "tv", "appleAccount": "home", "approves": false},
                         {"name": "phone", "platform": "ios", "person": "ben", "scenario": {
                            "permission": {"initial": "notDetermined", "onPrompt": "granted"}, "system": {"provider": "p", "expiresIn": -5},
                            "clock": "2031-04-05T10:00:00Z", "picker": [{"pick": "p", "expired": true}, {"cancel": true}], "onboarded": ["p"],
                            "saml": {"mode": "sandbox", "flaw": "unsigned"}, "faults": [{"at": "metadata#2", "vsError": 3, "times": 1}]}}],
             "steps": [{"do": "configure"}, {"do": "launch"}, {"do": "status"}, {"do": "providers"},
                       {"do": "signin", "provider": "N", "as": "ada", "force": true, "filter": ["N"]},
                       {"do": "signin", "person": "lets-code-expire"}, {"do": "preflight", "resources": ["A", "B"]},
                       {"do": "play", "resource": "A"}, {"do": "metadata", "key": "zip"}, {"do": "logout"},
                       {"do": "auto-signin", "action": "redeem"}, {"do": "clock", "ahead": -86400}, {"do": "clock", "pass": 60},
                       {"do": "network", "fault": "status", "status": 503, "retryAfter": 2, "path": "/api", "times": 3},
                       {"do": "network", "fault": "none"},
                       {"device": "phone", "do": "settings", "permission": "denied", "signOut": true,
                        "expect": {"outcome": "ok", "code": "CFG503", "signedIn": true, "provider": "N", "source": "apple",
                                   "permitted": [], "value": "", "text": "t"}}]}
            """)
        #expect(script.devices.map(\.name) == ["tv", "phone"] && script.devices[1].platform == .iOS && !script.devices[0].approves)
        let scenario = try #require(script.devices[1].scenario)
        #expect(scenario.system == Scenario.System(provider: "p", expiresIn: -5) && scenario.picker?.count == 2 && scenario.clock != nil)
        #expect(scenario.faults == [Scenario.Fault(at: "metadata#2", vsError: 3, times: 1)])
        #expect(
            script.steps.map(\.action.name) == [
                "configure", "launch", "status", "providers", "signin", "signin", "preflight", "play", "metadata", "logout", "auto-signin", "clock",
                "clock", "network", "network", "settings",
            ])
        guard case .signIn(let order) = script.steps[4].action, case .network(let fault?) = script.steps[13].action,
            case .network(nil) = script.steps[14].action
        else {
            Issue.record("read as something else")
            return
        }
        #expect(order.conduct == .signsIn("ada") && order.isForced && order.filter == ["N"])
        #expect(fault == SimulatedNetwork.Fault(.status(503, retryAfter: 2), path: "/api", times: 3))
        #expect(script.steps[15].device == "phone" && script.steps[15].expectation.code == "CFG503")
    }

    @Test(
        "mistakes are named with their places",
        arguments: [
            ("{\"steps\": [", "line 1, column 12"), ("[]", "the file (line 1, column 1) must be an object"),
            ("{}", "steps (line 1, column 1) is missing"),
            ("{\"steps\": []}", "steps (line 1, column 11) must hold a step"),
            ("{\"steps\": [{\n\"do\": \"fly\"}]}", "steps[0].do (line 2, column 7)"),
            ("{\"steps\": [{\"do\": \"play\"}]}", "steps[0].resource (line 1, column 12) is missing"),
            ("{\"steps\": [{\"do\": \"status\", \"x\": 1}]}", "steps[0].x (line 1, column 29) is not known here"),
            ("{\"steps\": [{\"device\": \"b\", \"do\": \"status\"}]}", "names no device of the script"),
            ("{\"steps\": [{\"do\": \"signin\"}]}", "needs either 'as'"), ("{\"steps\": [{\"do\": \"clock\"}]}", "needs either 'ahead' or 'pass'"),
            ("{\"steps\": [{\"do\": \"signin\", \"as\": \"ada\", \"person\": \"waits\"}]}", "needs either 'as'"),
            ("{\"steps\": [{\"do\": \"status\", \"expect\": {\"code\": \"N007\"}}]}", "is no code of the library: 'N007'"),
            ("{\"steps\": [{\"do\": \"status\", \"expect\": {\"outcome\": \"fine\"}}]}", "steps[0].expect.outcome"),
            ("{\"steps\": [{\"do\": \"auto-signin\", \"action\": \"enable\"}]}", "needs a device with an 'appleAccount'"),
            ("{\"steps\": [{\"do\": \"settings\", \"signOut\": true}]}", "needs a device with a 'scenario'"),
            ("{\"steps\": [{\"do\": \"network\", \"fault\": \"status\", \"status\": 99}]}", "must be from 100 to 599"),
            ("{\"devices\": [{\"name\": \"a\"}, {\"name\": \"a\"}], \"steps\": [{\"do\": \"status\"}]}", "names the device 'a' twice"),
            (
                "{\"devices\": [{\"name\": \"a\", \"scenario\": {\"picker\": [{}]}}], \"steps\": [{\"do\": \"status\"}]}",
                "needs exactly one of 'pick'"
            ),
            (
                "{\"devices\": [{\"name\": \"a\", \"scenario\": {\"faults\": [{\"at\": \"x\", \"error\": \"e\"}]}}], \"steps\": [{\"do\": \"status\"}]}",
                "must be 'access'"
            ),
            ("{\"devices\": [{\"name\": \"a\", \"scenario\": {\"clock\": \"noon\"}}], \"steps\": [{\"do\": \"status\"}]}", "must be a time like"),
        ])
    func namesMistakes(json: String, message: String) {
        #expect {
            try Self.read(json)
        } throws: {
            ($0 as? DeviceFailure)?.exit == .usage && "\($0)".contains(message) && "\($0)".hasPrefix("a.json")
        }
    }

    @Test("a text of nonsense never gets through, however it is cut")
    func refusesPieces() throws {
        let whole = #"{"devices": [{"name": "tv"}], "steps": [{"do": "status", "expect": {"signedIn": false}}]}"#
        _ = try Self.read(whole)
        for length in 0..<whole.count {
            #expect(throws: DeviceFailure.self) { try Self.read(String(whole.prefix(length))) }
        }
    }

    @Test("expectations", arguments: [true, false])
    func judges(isMet: Bool) {
        let session = Session(requestor: "ACME1", provider: "N", source: .apple, expires: Date(), userID: "u")
        let report = StepReport(
            outcome: .refused, text: "not in your package", failureCode: "Z100", codes: ["N010"], session: session, permitted: ["B", "A"], value: "v")
        let expectations: [ExpectedEnd] =
            isMet
            ? [
                ExpectedEnd(), ExpectedEnd(outcome: .refused), ExpectedEnd(code: "Z100"), ExpectedEnd(code: "N010"), ExpectedEnd(isSignedIn: true),
                ExpectedEnd(provider: "N"), ExpectedEnd(source: "apple"), ExpectedEnd(permitted: ["A", "B"]), ExpectedEnd(value: "v"),
                ExpectedEnd(text: "package"),
            ]
            : [
                ExpectedEnd(outcome: .done), ExpectedEnd(code: "Z110"), ExpectedEnd(isSignedIn: false), ExpectedEnd(provider: "M"),
                ExpectedEnd(source: "regular"), ExpectedEnd(permitted: ["A"]), ExpectedEnd(value: "w"), ExpectedEnd(text: "parcel"),
            ]
        for expectation in expectations { #expect((expectation.problem(with: report) == nil) == isMet, "\(expectation)") }
    }

    @Test("secrets are shortened in journals")
    func shortensSecrets() throws {
        #expect(DeviceJournal.shortened("0123456789abcdef") == "01234567…" && DeviceJournal.shortened("0123") == "0123")
        let url = try #require(URL(string: "http://h/api/v1/logout?a=b&access_token=0123456789abcdef&c=d"))
        #expect(DeviceJournal.shortened(url) == "http://h/api/v1/logout?a=b&access_token=01234567…&c=d")
    }

    @Test(
        "errors of the library have their exit codes",
        arguments: [
            (EntitlementError.authenticationFailed("N130"), CommandExit.expired), (.configurationFailed("CFG404"), .unreachable),
            (.configurationFailed("CFG503"), .unreachable), (.configurationFailed("SEC420"), .unreachable),
            (.configurationFailed("CFG400"), .configuration),
            (.configurationFailed("R400"), .configuration), (.notConfigured, .configuration), (.providerNotSelected, .cancelled),
            (.authenticationFailed(nil), .refused), (.notAuthenticated, .refused),
            (.denied(AuthorizationDenial(code: .notAuthorized, statusCode: "Z100", text: "no")), .refused),
            (.denied(AuthorizationDenial(code: .internal, statusCode: "Z500")), .unreachable),
        ])
    func mapsErrors(error: EntitlementError, exit: CommandExit) {
        #expect(DeviceFailure(error).exit == exit)
        #expect(!DeviceFailure(error).description.isEmpty)
    }

    @Test("a fleet's summary counts by step and code, and has a bounded size")
    func summarizes() throws {
        var summary = FleetSummary(count: 1000)
        for number in 0..<1000 {
            var outcome = DeviceFleet.Outcome()
            outcome.times = [.configure: .milliseconds(10), .play: .milliseconds(number + 1)]
            if number % 4 == 0 { outcome.failure = (.play, "Z\(number)", "words") }
            summary.add(outcome)
        }
        summary.end()
        #expect(summary.succeeded == 750 && summary.failed == 250 && summary.failures.count <= 65)
        #expect(summary.failures.values.reduce(0) { $0 + $1.times } == 250)
        let text = summary.lines(Console(isStyled: false)).joined(separator: "\n")
        #expect(text.contains("750 of 1000 devices") && text.contains("250 failed") && text.contains("permission and media token: Z"))
        guard case .object(let facts) = summary.json, case .object(let steps) = facts["steps"],
            case .object(let play) = steps["permission and media token"],
            case .number(let median) = play["p50Milliseconds"]
        else {
            Issue.record("\(summary.json)")
            return
        }
        #expect(abs(median - 500) < 5)
    }
}
