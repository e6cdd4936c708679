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
        private let ways = Mutex<[OutboundRoute]>([])

        init(_ answers: Result<OutboundAnswer, OutboundFailure>...) { self.answers = Mutex(answers) }

        init(answers: [Result<OutboundAnswer, OutboundFailure>]) { self.answers = Mutex(answers) }

        var requests: [OutboundRequest] { sent.withLock { $0 } }
        var routes: [OutboundRoute] { ways.withLock { $0 } }

        func send(_ request: OutboundRequest, by route: OutboundRoute, timeLeft: Duration) async throws(OutboundFailure) -> OutboundAnswer {
            sent.withLock { $0.append(request) }
            ways.withLock { $0.append(route) }
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

    private func line(_ upstream: Upstream, _ certificates: ClientCertificates = ClientCertificates()) -> UpstreamConnection {
        let logger = Logger(label: "test", factory: { [log] _ in log })
        return UpstreamConnection(
            transport: upstream, routes: UpstreamRoutes(certificates: certificates), via: BridgeVia(origin: "https://tv.example"), clock: clock,
            logger: alarms.watching(logger))
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

    private func ask(_ line: UpstreamConnection, _ upstream: BridgeUpstream) async throws(UpstreamError) {
        _ = try await line.ask(.profiles("SP"), bearer: "b", for: nil, at: upstream, UpstreamDeadline(.seconds(60))) {
            answer throws(BridgeFailure) in
            try BridgedProfile.all(answer)
        }
    }

    @Test("what was not sent is asked once more, and a second failure is told")
    func asksOnceMore() async throws {
        let recovers = Upstream(.failure(OutboundFailure(.notSent)), .success(Self.answer(Self.profiles)))
        #expect(try await ask(line(recovers)).count == 1 && recovers.requests.count == 2)
        let away = Upstream(.failure(OutboundFailure(.notSent)))
        await #expect(throws: UpstreamError.self) { try await ask(line(away)) }
        #expect(away.requests.count == 2)
    }

    @Test("bridge §5.3: more calls a second than the record allows are not sent")
    func keepsPace() async throws {
        let upstream = Upstream(.success(Self.answer(Self.profiles)))
        let line = line(upstream)
        var record = BridgeUpstream(id: "vendor", baseURL: "https://api.upstream.example")
        record.limits = BridgeLimits(perSecond: 1)
        var refused = 0
        for _ in 0..<20 { do { try await ask(line, record) } catch { refused += 1 } }
        #expect(refused > 0 && upstream.requests.count == 20 - refused)
    }

    @Test("bridge §3.1: a connection has the version, the age and the trust of the record; a check's connections have the same")
    func followsRecord() async throws {
        let upstream = Upstream(.success(Self.answer(Self.profiles)))
        let line = line(upstream)
        try await ask(line, BridgeUpstream(id: "vendor", baseURL: "https://api.upstream.example"))
        var record = BridgeUpstream(id: "vendor", baseURL: "https://api.upstream.example", trustAnchors: [[1]], httpVersion: .http2)
        record.times = BridgeTimes(connectionAgeSeconds: 10)
        try await ask(line, record)
        _ = await UpstreamProbe(line: line, upstream: record).visit("https://api.upstream.example/")
        let routes = upstream.routes
        try #require(routes.count == 3)
        #expect(routes.map(\.version) == [.http1, .http2, .http2] && routes.map(\.connectionAge) == [.seconds(60), .seconds(10), .seconds(10)])
        #expect(routes.map(\.trustAnchors) == [[], [[1]], [[1]]] && routes.allSatisfy { $0.certificate == nil })
    }

    @Test("bridge §3.1: a client certificate that is not at hand closes its upstream alone: no call is made, and the alarm says why")
    func needsCertificate() async throws {
        let reason = ClientCertificateError(description: "the file tv.key cannot be read")
        let certificates = ClientCertificates(["tv": .failure(reason)], setting: "authentication.clientCertificates")
        let upstream = Upstream(.success(Self.answer(Self.profiles)))
        let line = line(upstream, certificates)
        let closed = BridgeUpstream(id: "closed", baseURL: "https://api.upstream.example", clientCertificate: "tv")
        let unknown = BridgeUpstream(id: "unknown", baseURL: "https://api.upstream.example", clientCertificate: "other")
        for record in [closed, unknown] { await #expect(throws: UpstreamError.self) { try await ask(line, record) } }
        try await ask(line, BridgeUpstream(id: "open", baseURL: "https://api.upstream.example"))
        #expect(upstream.requests.count == 1)
        let told = ["closed", "unknown", "open"].map { alarms.of($0).map { "\($0.event): \($0.details)" } }
        #expect(
            told == [
                ["bridge.no_certificate: authentication.clientCertificates.tv cannot be used: the file tv.key cannot be read"],
                ["bridge.no_certificate: the settings have no authentication.clientCertificates.other"], [],
            ])
        let probe = await UpstreamProbe(line: line, upstream: closed).visit("https://api.upstream.example/")
        #expect(probe.isUnreachable && probe.cause.contains("authentication.clientCertificates.tv"))
    }

    @Test("at the start each upstream whose record says how it is reached is named once")
    func namesRecords() {
        let routes = UpstreamRoutes(certificates: ClientCertificates())
        let logger = Logger(label: "test", factory: { [log] _ in log })
        var aged = BridgeUpstream(id: "aged")
        aged.times = BridgeTimes(connectionAgeSeconds: 30)
        for record in [
            BridgeUpstream(id: "usual"), BridgeUpstream(id: "two", httpVersion: .http2), BridgeUpstream(id: "shown", clientCertificate: "tv"), aged,
        ] {
            routes.name(record, logger)
        }
        let told = log.lines.map { "\($0.event) \($0.fields["upstream"] ?? "")" }
        #expect(
            told == [
                "bridge.connection_settings two", "bridge.connection_settings shown", "bridge.no_certificate shown",
                "bridge.connection_settings aged",
            ])
        #expect(log.lines.last?.fields["connection_age_s"] == "30" && log.lines.first?.fields["protocol"] == "http2")
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
        let store = try Backend.sqlite.open()
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

    @Test("bridge B14, B18: what upstream says of our client is no word of a person, and a service provider that it refuses rests for all devices")
    func restsForAllDevices() async throws {
        func slot(_ id: String) -> [Result<OutboundAnswer, OutboundFailure>] {
            [
                .success(Self.answer(#"{"client_id":"\#(id)","client_secret":"s","scopes":["api:client:v2"]}"#, status: 201)),
                .success(Self.answer(#"{"access_token":"t","expires_in":3600}"#)),
            ]
        }
        let (no, gone) = (Self.answer("{}", status: 401), Self.answer(#"{"error":"invalid_client"}"#, status: 400))
        let again = Self.answer(#"{"access_token":"u","expires_in":3600}"#)
        let profiles = Self.answer(Self.profiles)
        let upstream = Upstream(
            answers: slot("c") + [.success(no), .success(again), .success(no)] + slot("d") + [.success(profiles)] + slot("e")
                + [.success(no), .success(gone), .success(gone)])
        let store = try Backend.sqlite.open()
        let line = line(upstream)
        let caller = UpstreamCaller(
            line: line,
            slots: UpstreamSlots(
                line: line, store: store, statements: Statements(),
                seal: TokenSeal(keys: SymmetricKeyRing(current: try SymmetricKey(bytes: Array(0..<32)))), clock: clock,
                logger: line.logger))
        let entry = BridgeClientEntry(id: "tv", statementReference: "acme-v2")
        func ask(_ device: String, at serviceProvider: String, _ scope: BridgeClientScope = .device) async throws -> [BridgedProfile] {
            let record = BridgeUpstream(id: "vendor", baseURL: "https://api.upstream.example", clients: [entry], clientScope: scope, shards: 1)
            let client = UpstreamClientAt(record, entry, of: DeviceID(device))
            return try await caller.ask(.profiles(serviceProvider), by: client, for: nil, UpstreamDeadline(.seconds(60))) {
                answer throws(BridgeFailure) in
                try BridgedProfile.all(answer)
            }
        }
        func fault(_ device: String, at serviceProvider: String, _ scope: BridgeClientScope = .device) async throws -> Fault? {
            do { _ = try await ask(device, at: serviceProvider, scope) } catch { return (error as? UpstreamError)?.fault(clock.now()) }
            return nil
        }
        let refused = try await fault("one", at: "SP1")
        #expect(refused?.code == .upstreamUnavailable && refused?.retryAfter == .seconds(60))
        #expect(upstream.requests.count == 5, "register, token, the call, token, the call")
        #expect(alarms.of("vendor").map(\.event) == ["bridge.access_refused"] && alarms.of("vendor").first?.details == "acme-v2, SP1")
        clock.advance(by: .seconds(59))
        for device in ["one", "two"] { #expect(try await fault(device, at: "SP1")?.retryAfter == .seconds(1)) }
        #expect(upstream.requests.count == 5, "no call of any device for a minute")
        #expect(try await ask("two", at: "SP2").count == 1, "it was not asked about")
        let doubted = try await fault("one", at: "SP2", .shared)
        #expect(doubted?.code == .upstreamUnavailable && doubted?.retryAfter == .seconds(10), "\(String(describing: doubted))")
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
