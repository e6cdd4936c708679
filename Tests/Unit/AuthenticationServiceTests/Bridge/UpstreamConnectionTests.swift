import BridgeClient
import Clocks
import Contracts
import Cryptography
import Faults
import Identifiers
import Logging
import ManualClocks
import OutboundHttp
import Synchronization
import Testing

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// The calls to upstream and the reading of its answers, without any upstream.
@Suite struct UpstreamConnectionTests {
    /// Answers as it was told.
    private final class Upstream: OutboundTransport {
        private let answers: Mutex<[Result<OutboundAnswer, OutboundFailure>]>
        private let sent = Mutex<[OutboundRequest]>([])

        init(_ answers: Result<OutboundAnswer, OutboundFailure>...) { self.answers = Mutex(answers) }

        var requests: [OutboundRequest] { sent.withLock { $0 } }

        func send(_ request: OutboundRequest, by route: OutboundRoute, timeLeft: Duration) async throws(OutboundFailure) -> OutboundAnswer {
            sent.withLock { $0.append(request) }
            let next = answers.withLock { $0.count > 1 ? $0.removeFirst() : $0.first }
            guard let next else { throw OutboundFailure(.notSent) }
            return try next.get()
        }
    }

    private static let profiles = #"{"profiles":{"M":{"notBefore":1000000,"notAfter":2000000,"type":"regular"}}}"#
    private let log = LogRecorder()
    private let alarms: UpstreamAlarms
    private let clock = ManualClock(Timestamp(seconds: 784_111_777))

    init() { alarms = UpstreamAlarms(clock: ManualClock(Timestamp(seconds: 784_111_777))) }

    private func line(_ upstream: Upstream) -> UpstreamConnection {
        let logger = Logger(label: "test", factory: { [log] _ in log })
        return UpstreamConnection(transport: upstream, via: BridgeVia(origin: "https://tv.example"), clock: clock, logger: alarms.watching(logger))
    }

    private static func answer(_ body: String, _ headers: [(name: String, value: String)] = [], status: Int = 200) -> OutboundAnswer {
        OutboundAnswer(status: status, headers: headers, body: Array(body.utf8))
    }

    private func ask(_ line: UpstreamConnection, _ kind: BridgeUpstreamKind = .vendor) async throws(UpstreamError) -> [BridgedProfile] {
        let upstream = BridgeUpstream(id: "vendor", kind: kind, baseURL: "https://api.upstream.example")
        return try await line.ask(.profiles("SP"), bearer: "b", for: nil, at: upstream, UpstreamDeadline(.seconds(60))) {
            answer throws(BridgeFailure) in
            try BridgedProfile.all(answer)
        }
    }

    @Test("bridge B103: another Boxoffice hears who calls, a vendor does not")
    func namesItself() async throws {
        let upstream = Upstream(.success(Self.answer(Self.profiles)))
        let line = line(upstream)
        _ = try await ask(line, .boxoffice)
        _ = try await ask(line)
        let vias = upstream.requests.map { request in request.headers.first { $0.name == "Via" }?.value }
        #expect(vias == [BridgeVia(origin: "https://tv.example").header, nil])
    }

    @Test("bridge B103: a clock that is five minutes ahead is an alarm once, and what it says is moved; seconds are nobody's fault")
    func knowsClocks() async throws {
        let ahead = [(name: "Date", value: "Sun, 06 Nov 1994 08:54:37 GMT")]
        let line = line(Upstream(.success(Self.answer(Self.profiles, ahead))))
        for _ in 0..<3 {
            let profile = try #require(try await ask(line).first)
            #expect(profile.end == Timestamp(milliseconds: 1_700_000))
        }
        let told = log.lines.filter { $0.event == "bridge.clock_skew" }
        #expect(told.count == 1 && told.first?.level == .error && told.first?.fields["details"] == "its clock is 300 s ahead of ours")
        #expect(alarms.of("vendor").map(\.event) == ["bridge.clock_skew"] && line.clocks.offset(of: "vendor") == .seconds(300))
        let near = self.line(Upstream(.success(Self.answer(Self.profiles, [(name: "Date", value: "Sun, 06 Nov 1994 08:49:57 GMT")]))))
        #expect(try await ask(near).first?.end == Timestamp(milliseconds: 2_000_000))
        #expect(log.lines.count { $0.event == "bridge.clock_skew" } == 1)
    }

    @Test("bridge B102: an address that nobody may be asked at is an alarm that names it")
    func tellsOfAddresses() async {
        let line = line(Upstream(.failure(OutboundFailure(.refusedAddress, cause: "'api.upstream.example' leads into a private network"))))
        await #expect(throws: UpstreamError.self) { _ = try await ask(line) }
        let alarm = alarms.of("vendor").first
        #expect(alarm?.event == "bridge.private_address" && alarm?.details == "'api.upstream.example' leads into a private network")
        #expect(alarms.of("another").isEmpty)
    }

    @Test("alarms are counted by kind, the newest first; what is no alarm of an upstream's is none")
    func countsAlarms() {
        let clock = SteppingClock()
        let alarms = UpstreamAlarms(clock: clock)
        let logger = alarms.watching(Logger(label: "test", factory: { [log] _ in log }))
        for (event, upstream) in [("bridge.a", "u"), ("bridge.b", "u"), ("bridge.a", "u"), ("bridge.a", "v"), ("other", "u")] {
            logger.error("\(event)", metadata: ["upstream": "\(upstream)", "code": "c", "details": "d"])
        }
        logger.warning("bridge.c", metadata: ["upstream": "u"])
        logger.error("bridge.d")
        let told = alarms.of("u")
        #expect(told.map(\.event) == ["bridge.a", "bridge.b"] && told.map(\.count) == [2, 1] && told.first?.details == "c, d")
        #expect(log.lines.count == 7, "all of it is in the log")
    }

    @Test(
        "bridge B93: what is no API v2, or has no known code, is an alarm that says what to do: once in a minute for each operation",
        arguments: [(302, "bridge.wrong_address"), (404, "bridge.wrong_address"), (405, "bridge.wrong_address"), (400, "bridge.bad_request")])
    func tellsOfStrangers(_ status: Int, _ event: String) async {
        let line = line(Upstream(.success(Self.answer("<html>", status: status))))
        for _ in 0..<3 { await #expect(throws: UpstreamError.self) { _ = try await ask(line) } }
        #expect(alarms.of("vendor").map(\.event) == [event] && alarms.of("vendor").first?.count == 1)
        #expect(alarms.of("vendor").first?.details.hasPrefix("profiles was answered \(status)") == true)
        clock.advance(by: .seconds(60))
        await #expect(throws: UpstreamError.self) { _ = try await ask(line) }
        #expect(alarms.of("vendor").first?.count == 2)
    }

    @Test("bridge §2: a profile of a type that came later counts, and is told in the log once in an hour")
    func tellsOfTypes() async throws {
        let body = #"{"profiles":{"M":{"notBefore":1000000,"notAfter":2000000,"type":"hologramSSO"}}}"#
        let line = line(Upstream(.success(Self.answer(body))))
        for _ in 0..<3 { #expect(try await ask(line).first?.kind == .unknown) }
        func told() -> [LogRecorder.Line] { log.lines.filter { $0.event == "bridge.unknown_profile_type" } }
        #expect(told().count == 1 && told().first?.level == .warning && told().first?.fields["type"] == "hologramSSO")
        clock.advance(by: .seconds(3600))
        _ = try await ask(line)
        #expect(told().count == 2)
        #expect(alarms.of("vendor").isEmpty, "it is no fault")
    }

    @Test("bridge B95: an upstream that failed again and again is not asked for 15 s; apps are told to wait as long, and some more")
    func rests() async throws {
        let upstream = Upstream(.failure(OutboundFailure(.responseTimeout)))
        let line = line(upstream)
        for _ in 0..<20 { await #expect(throws: UpstreamError.self) { _ = try await ask(line) } }
        clock.advance(by: .seconds(4))
        let error = await #expect(throws: UpstreamError.self) { _ = try await ask(line) }
        #expect(upstream.requests.count == 20)
        let fault = try #require(error).fault(clock.now())
        #expect(fault.code == .upstreamUnavailable && (Duration.seconds(11)...Duration.seconds(16)).contains(fault.retryAfter ?? .zero))
        let away = UpstreamError.failure(.unreachable(.responseTimeout)).fault(clock.now())
        #expect((Duration.seconds(5)...Duration.seconds(10)).contains(away.retryAfter ?? .zero))
    }

    private struct Statements: ClientSecrets {
        func secret(_ reference: SecretReference) async throws(Fault) -> ProviderSecret? { ProviderSecret("a statement") }
    }

    @Test("bridge B16, B104: a statement that was refused rests, until an operator asks for another attempt; a reset forgets the client")
    func forgives() async throws {
        let refused = Self.answer(#"{"error":"unapproved_software_statement"}"#, status: 400)
        let registered = Self.answer(#"{"client_id":"c","client_secret":"s","scopes":["api:client:v2"]}"#, status: 201)
        let token = Self.answer(#"{"access_token":"t","expires_in":3600}"#)
        let upstream = Upstream(.success(refused), .success(registered), .success(token))
        let store = try #require(try Backend.sqlite.open() as? SqlAuthenticationStore)
        let slots = UpstreamSlots(
            line: line(upstream), store: store, statements: Statements(),
            seal: TokenSeal(keys: SymmetricKeyRing(current: try SymmetricKey(bytes: Array(0..<32)))), clock: clock,
            logger: Logger(label: "test", factory: { [log] _ in log }))
        let entry = BridgeClientEntry(id: "tv", statementReference: "acme-v2")
        let record = BridgeUpstream(id: "vendor", baseURL: "https://api.upstream.example", clients: [entry])
        let client = UpstreamClientAt(record, entry, of: DeviceID("dev-1"))
        let other = UpstreamClientAt(service: record, BridgeClientEntry(id: "phone", statementReference: "acme-v2"))
        for _ in 0..<3 { await #expect(throws: UpstreamError.self) { _ = try await slots.bearer(client, for: nil, UpstreamDeadline(.seconds(60))) } }
        #expect(upstream.requests.count == 1, "it rests")
        await slots.forgive(other)
        await #expect(throws: UpstreamError.self) { _ = try await slots.bearer(client, for: nil, UpstreamDeadline(.seconds(60))) }
        #expect(upstream.requests.count == 1, "another entry's statement was mended")
        await slots.forgive(UpstreamClientAt(check: record, entry, statement: "a statement"))
        #expect(try await slots.bearer(client, for: nil, UpstreamDeadline(.seconds(60))).token == "t")
        #expect(upstream.requests.count == 3)
        #expect(try await slots.known(client).credentials?.clientID == "c")
        #expect(try await slots.reset(client).wasKnown)
        #expect(try await !slots.reset(client).wasKnown)
        #expect(try await slots.known(client).credentials == nil)
    }

    @Test("bridge B104: another statement makes another client of the check, and that is none of a viewer's")
    func namesChecks() {
        let entry = BridgeClientEntry(id: "tv", statementReference: "acme-v2")
        let record = BridgeUpstream(id: "vendor", clients: [entry])
        let names = ["one", "two", "one"].map { UpstreamClientAt(check: record, entry, statement: $0).name }
        #expect(names[0] == names[2] && names[0] != names[1] && !names[0].isDevices && !names[0].text.contains("one"))
        #expect(names[0].text.hasPrefix("vendor/tv/check-") && names[0] != UpstreamClientAt(service: record, entry).name)
    }

    private final class SteppingClock: WallClock {
        private let seconds = Mutex<Int64>(0)
        func now() -> Timestamp {
            seconds.withLock { seconds in
                seconds += 1
                return Timestamp(seconds: seconds)
            }
        }
    }
}
