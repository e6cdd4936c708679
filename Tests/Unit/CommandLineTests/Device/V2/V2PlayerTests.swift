@testable import CommandKit
@testable import Simulation
import EntitlementClient
import Foundation
import Synchronization
import Testing

/// `boxoffice device --api v2` against a stub that answers as the documents of REST v2 have it.
@Suite("Devices on REST v2")
struct V2PlayerTests {
    /// Keeps what a flow shows.
    private final class Steps: V2Stage {
        private let texts = Mutex<[String]>([])

        var all: [String] { texts.withLock { $0 } }
        func step(_ text: String, took: Duration) { texts.withLock { $0.append(text) } }
        func show(_ code: RegistrationCode) { texts.withLock { $0.append("code \(code.code)") } }
        func play(_ channel: String, _ report: MediaTokenReport) { texts.withLock { $0.append("plays \(channel) \(report.verdict.rawValue)") } }
        func open(_ address: String) { texts.withLock { $0.append("open \(address)") } }
    }

    /// - Returns: The output of the flow, and its calls.
    private func play(
        _ flow: V2Flow, _ change: @escaping @Sendable (inout V2Player) -> Void = { _ in }
    ) async throws -> (steps: [String], log: [String]) {
        let (stub, steps) = (try StubV2(), Steps())
        let client = HTTPExchange.makeClient()
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(
                try await StubServer.with(stub.answer) { server in
                    let setup = DeviceSetup(
                        exchange: HTTPExchange(client: client), gateway: server.url, requestor: "ACME1", statement: "app", apple: server.url,
                        certificates: stub.certificate)
                    var player = V2Player(
                        setup: setup, stage: steps, person: "ada", resource: "ACME1-NEWS", channels: ["ACME1-NEWS", "ACME1-KIDS"],
                        management: V2Player.ManagementAccess(administration: server.url, statement: "office", company: "acme"),
                        backendStatement: "backend")
                    change(&player)
                    try await player.play(flow)
                })
        } catch {
            outcome = .failure(error)
        }
        try await client.shutdown()
        try outcome.get()
        return (steps.all, stub.log)
    }

    @Test("rest-v2 §5: every flow goes to its end", arguments: V2Flow.allCases)
    func flows(_ flow: V2Flow) async throws {
        let (steps, log) = try await play(flow)
        #expect(!steps.isEmpty && log.first == "POST /o/client/register")
    }

    @Test("flow A asks for profiles first, and for the code's right after the landing")
    func ownBrowser() async throws {
        let (steps, log) = try await play(.a)
        let calls = log.filter { $0.contains("/api/v2/") }.map { $0.replacingOccurrences(of: "C100000", with: "CODE") }
        #expect(
            calls == [
                "GET /api/v2/ACME1/profiles", "GET /api/v2/ACME1/configuration", "POST /api/v2/ACME1/sessions",
                "GET /api/v2/authenticate/ACME1/CODE", "GET /api/v2/ACME1/profiles/code/CODE", "POST /api/v2/ACME1/decisions/authorize/NorthCable",
            ])
        #expect(steps.last == "plays ACME1-NEWS VALID_TOKEN")
    }

    @Test("flow C: the second screen is told what is missing, twice")
    func secondScreenChooses() async throws {
        let (steps, log) = try await play(.c)
        #expect(steps.contains("The page chose NorthCable; it still has to say domainName and redirectUrl"))
        #expect(log.count { $0 == "POST /api/v2/ACME1/sessions/C100000" } == 2)
    }

    @Test("flow E shows the MVPD's own words") func preauthorization() async throws {
        let (steps, _) = try await play(.e)
        #expect(steps.suffix(2) == ["ACME1-NEWS: may be watched", "ACME1-KIDS: preauthorization_denied_by_mvpd (Not in your package)"])
    }

    @Test("flow K ends its rules, also when something goes wrong in between")
    func degradation() async throws {
        let (_, log) = try await play(.k)
        #expect(log.filter { $0.contains("/control/") }.count == 4 && log.last == "DELETE /control/v3/degradation/acme/authzNone")
        await #expect(throws: (any Error).self) { try await play(.k) { $0.resource = "ACME1-KIDS" } }
    }

    @Test("flow J: another device joins by a code, unless a token was given for all") func serviceTokens() async throws {
        let (_, own) = try await play(.j)
        #expect(own.count { $0 == "POST /api/ACME1/link" } == 1 && own.count { $0 == "POST /api/ACME1/serviceToken" } == 2)
        let (_, given) = try await play(.j) { $0.identity.serviceToken = "given" }
        #expect(!given.contains { $0.hasPrefix("POST /api/ACME1/") })
    }

    @Test("flow L: a preview that counts by person is asked for with the person") func trials() async throws {
        let (steps, _) = try await play(.l)
        #expect(
            steps.contains { $0.hasPrefix("Free preview until ") }
                && steps.contains { $0.hasPrefix("Three for free until ") && $0.hasSuffix("for 2 more channels") })
    }

    @Test("without a simulated person the code and the address are shown, and the TV waits")
    func waitsForThePerson() async throws {
        let steps = Steps()
        let stub = try StubV2()
        let client = HTTPExchange.makeClient()
        let played = Task {
            try await StubServer.with(stub.answer) { server in
                let setup = DeviceSetup(
                    exchange: HTTPExchange(client: client), gateway: server.url, requestor: "ACME1", statement: "app",
                    certificates: stub.certificate)
                try await V2Player(
                    setup: setup, stage: steps, resource: "ACME1-NEWS", channels: [], pollInterval: .milliseconds(20)
                ).play(.b)
            }
        }
        while true {
            guard let open = steps.all.first(where: { $0.hasPrefix("open ") }) else {
                try await Task.sleep(for: .milliseconds(10))
                continue
            }
            var browser = SimulatedPerson(exchange: HTTPExchange(client: client))
            _ = try await browser.signIn(at: String(open.dropFirst(5)), name: "ada", password: "ada", until: "https://acme.example/signed-in")
            break
        }
        try await played.value
        try await client.shutdown()
        #expect(steps.all.contains("code C100000") && steps.all.contains { $0.hasPrefix("plays ACME1-NEWS") })
    }

    @Test("what is refused says the code and the words, and ends the command as it should")
    func refusals() async throws {
        let denied = await failure { try await play(.f) { $0.resource = "ACME1-KIDS" } }
        #expect(denied?.exit == .refused && denied?.description.contains("Not in your package") == true)
        let unknown = await failure { try await play(.a) { $0.mvpd = "Nobody" } }
        #expect(unknown?.description.contains("NorthCable, Preview10, PromoVod") == true)
        let absent = await failure { try await play(.j) { $0.backendStatement = nil } }
        #expect(absent?.description.contains("--service-token") == true)
        let offices = await failure { try await play(.k) { $0.management = nil } }
        #expect(offices?.exit == .refused)
    }

    private func failure(_ work: () async throws -> some Any) async -> DeviceFailure? {
        do {
            _ = try await work()
            return nil
        } catch {
            return DeviceFailure(error)
        }
    }
}

@Suite("The TV with the flows of REST v2")
struct V2TvTests {
    @Test("the remote chooses a flow, sees its steps, and goes back to a menu that knows how it went")
    func plays() async throws {
        let stub = try StubV2()
        let client = HTTPExchange.makeClient()
        try await StubServer.with(stub.answer) { server in
            let setup = DeviceSetup(
                exchange: HTTPExchange(client: client), gateway: server.url, requestor: "ACME1", statement: "app", certificates: stub.certificate)
            let lines = V2Lines(console: Console(isQuiet: true), gateway: server.url, hasQrCode: false)
            let tv = V2Tv(V2Player(setup: setup, stage: lines, person: "ada", resource: "ACME1-NEWS", channels: ["ACME1-NEWS"]))
            await tv.start()
            #expect(await titles(tv).count == 12)
            await tv.press(.down)
            await tv.press(.up)
            await tv.press(.enter)
            try await wait { await tv.screen.busy == nil }
            guard case .playing(let channel, _, _) = await tv.screen.page else {
                Issue.record("nothing plays")
                return
            }
            let isBadNews = await tv.screen.isBadNews
            #expect(channel == "ACME1-NEWS" && !isBadNews)
            await tv.press(.back)
            #expect(await titles(tv).count == 12)
            let frame = TvFrame(Console(isStyled: false), width: 80, height: 24).lines(await tv.screen)
            #expect(frame.contains { $0.contains("▸ A ") && $0.contains("played") } && frame[0].contains("REST v2"))
            await tv.press(.letter("q"))
            #expect(await tv.isOver)
        }
        try await client.shutdown()
    }

    private func titles(_ tv: V2Tv) async -> [String] {
        guard case .list(_, _, let choices) = await tv.screen.page else { return [] }
        return choices.map(\.title)
    }

    private func wait(_ condition: () async -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while !(await condition()), ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(10)) }
        #expect(await condition())
    }
}
