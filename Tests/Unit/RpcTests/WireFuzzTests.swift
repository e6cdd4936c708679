import ContractRuntime
import Contracts
import Faults
import Foundation
import Frames
import NIOCore
import Rpc
import Synchronization
import Testing

extension RpcTests {
    /// Octets of a peer go through the whole of a real server, TLS included. The same frames in one segment, octet by octet and cut anywhere have the
    /// same answers. They end no process, and leave the server serving others.
    ///
    /// `BOXOFFICE_FUZZ_SECONDS` plays for longer than a second, up to the 60 s of this suite; `BOXOFFICE_FUZZ_SEED` repeats an input.
    @Suite struct WireFuzzTests {
        private static let environment = ProcessInfo.processInfo.environment
        private static let seconds = environment["BOXOFFICE_FUZZ_SECONDS"].flatMap(Double.init) ?? 1
        private static let firstSeed = environment["BOXOFFICE_FUZZ_SEED"].flatMap(UInt64.init) ?? 1

        @Test("however frames are cut, each call has the same answer, or the connection the same end")
        func frames() async throws {
            try await playing { random in try Input(&random) }
        }

        @Test("so it is where octets of the frames are changed, left out, put in or doubled")
        func mutations() async throws {
            var kinds: [String: Int] = [:]
            try await playing { random in
                while true {
                    var input = try Input(&random)
                    let kind = Mutation.change(&input.frames, &random)
                    guard input.isTimeless else { continue }
                    kinds[kind, default: 0] += 1
                    if !input.endsWithLast { input.tail = Self.tail }
                    return input
                }
            }
            guard Self.environment["BOXOFFICE_FUZZ_SEED"] == nil else { return }
            #expect(kinds.values.reduce(0, +) >= 5, "\(kinds)")
        }

        @Test("a service may answer what it likes: each call of its callers ends, and the next is answered where the answer is good")
        func callers() async throws {
            let random = Mutex(SeededNumbers(Self.firstSeed))
            let server = try await BreakingServer(
                name: TestServer.name,
                behaviour: .answering { request in random.withLock { (try? Self.answer(request, &$0)) ?? [] } })
            let client = TestServer.client(of: [server.address], identity: try server.identities.identity("client.boxoffice")) {
                $0.backoff = ReconnectBackoff(first: .milliseconds(1), longest: .milliseconds(5))
                $0.frameBytes = Self.frameLimit
                $0.followsHealth = true
            }
            let begun = Self.residentOctets()
            var ends: [String: Int] = [:]
            let end = ContinuousClock.now + .seconds(Self.seconds)
            // On a machine that is busy, until both have been seen.
            while ContinuousClock.now < end || ends["answered"] == nil || ends.count < 3, ContinuousClock.now < end + .seconds(30) {
                do {
                    let context = CallContext(deadline: .now + .milliseconds(100))
                    _ = try await DiagnosticsClient(caller: client).echo(EchoMessage(content: [7]), context: context)
                    ends["answered", default: 0] += 1
                } catch {
                    ends[(error as? Fault)?.code.rawValue ?? "\(error)", default: 0] += 1
                }
            }
            await client.shutDown()
            #expect(ends["answered"] != nil && ends.count >= 3, "\(ends)")
            guard Self.environment["BOXOFFICE_FUZZ_SECONDS"] != nil else { return }
            let grown = Self.residentOctets() - begun
            #expect(grown < Self.mostGrown, "\(grown) octets more after \(ends)")
        }

        /// A good answer, one of another kind, or either with changed octets.
        private static func answer(_ request: Request, _ random: inout SeededNumbers) throws -> [UInt8] {
            let fault = WireFault(
                code: ["unavailable", "overloaded", "", "no such code"].randomElement(using: &random) ?? "", message: "no",
                retryAfterMilliseconds: [0, 1, .max].randomElement(using: &random) ?? 0)
            // The other request of a connection follows the service's health.
            let good: Frame.Kind =
                request.method == HealthMethods.watch.name
                ? .streamItem(StreamItem(callID: request.callID)) : .response(Response(callID: request.callID, outcome: .payload(request.payload)))
            var kinds = [good]
            switch Int.random(in: 0..<16, using: &random) {
            case 0: kinds = [.response(Response(callID: request.callID, outcome: .fault(fault)))]
            case 1: kinds = [.streamItem(StreamItem(callID: request.callID, payload: request.payload)), good]
            case 2: kinds = [.streamEnd(StreamEnd(callID: request.callID, fault: fault))]
            case 3: kinds = [good, good]
            case 4: kinds = [.response(Response(callID: .max, outcome: .payload([]))), good]
            case 5: kinds = [.response(Response(callID: request.callID))]
            case 6: kinds = [.response(Response(callID: request.callID, outcome: .payload([0xff, 0xff])))]
            case 7: kinds = [.goAway(GoAway(code: "restart", message: "soon")), good]
            case 8: kinds = [.hello(RawPeer.hello), good]
            case 9: kinds = [.cancel(Cancel(callID: request.callID)), .ping(Ping(nonce: .max)), .pong(Pong(nonce: 1)), good]
            case 10: kinds = [.request(request)]
            default: break
            }
            var frames = try kinds.map { try FrameEncoder.encoded(Frame(kind: $0)) }
            guard Bool.random(using: &random) else { return frames.flatMap { $0 } }
            _ = Mutation.change(&frames, &random)
            // A frame that is announced and does not come would make the caller wait, as if nothing came.
            return frames.flatMap { $0 } + tail
        }

        /// A frame that is announced and not whole is completed by so few octets.
        private static let frameLimit = 1024
        private static let tail = [UInt8](repeating: 0xff, count: frameLimit + 200)
        private static let mostGrown = 256 << 20

        private func playing(_ next: (inout SeededNumbers) throws -> Input) async throws {
            let server = try await TestServer { $0.limits.frameBytes = Self.frameLimit }
            let begun = Self.residentOctets()
            let end = ContinuousClock.now + .seconds(Self.seconds)
            var seed = Self.firstSeed
            repeat {
                var random = SeededNumbers(seed)
                let input = try next(&random)
                let octets = input.octets
                let whole = try await answers(server, [octets + input.tail])
                let place = Int.random(in: 1..<octets.count, using: &random)
                for pieces in [octets.map { [$0] }, [Array(octets[..<place]), Array(octets[place...])]] {
                    let cut = try await answers(server, input.tail.isEmpty ? pieces : pieces + [input.tail])
                    try #require(cut == whole, "seed \(seed), \(pieces.count) pieces, cut at \(place)")
                }
                seed += 1
                // At least some, however busy the machine is.
            } while (ContinuousClock.now < end || seed < Self.firstSeed + 5) && Self.environment["BOXOFFICE_FUZZ_SEED"] == nil
            #expect(try await server.stillServes())
            // Beside other tests it says nothing.
            guard Self.environment["BOXOFFICE_FUZZ_SECONDS"] != nil else { return }
            let grown = Self.residentOctets() - begun
            #expect(grown < Self.mostGrown, "\(grown) octets more after \(seed - Self.firstSeed) inputs")
        }

        /// The memory of this process, in which the server runs.
        private static func residentOctets() -> Int {
            let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
            return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * 4096
        }

        private struct Input {
            /// Each with its length; once they are changed, no more than pieces.
            var frames: [[UInt8]]
            /// Behind them, where what came before does not end by itself.
            var tail: [UInt8] = []

            var octets: [UInt8] { frames.flatMap { $0 } }

            init(_ random: inout SeededNumbers) throws {
                frames = [try FrameEncoder.encoded(Frame(kind: .hello(RawPeer.hello)))]
                for number in 1...UInt64.random(in: 1...6, using: &random) {
                    var request = Request(callID: number, service: DiagnosticsMethods.service, method: "Echo")
                    request.payload = try EchoMessage(content: [UInt8](repeating: 7, count: Int.random(in: 0...40, using: &random))).serialized()
                    switch Int.random(in: 0..<14, using: &random) {
                    case 0: request.method = "Nothing"
                    case 1: request.service = "nobody.v1.Nobody"
                    case 2: request.payload = [0xff, 0xff]
                    case 3: request.traceparent = "00-x"
                    case 4: request.callID = 0
                    case 5: break
                    case 6: frames.append(try FrameEncoder.encoded(Frame(kind: .ping(Ping()))))
                    case 7: frames.append([0, 0, 0, 0])
                    case 8: frames.append([0, 0, 0, 3, 0xff, 0xff, 0xff])
                    case 9: frames.append([0x7f, 0xff, 0xff, 0xff])
                    default: break
                    }
                    frames.append(try FrameEncoder.encoded(Frame(kind: .request(request))))
                }
                // The end is known when this one is answered, unless the connection ends before.
                frames.append(
                    try FrameEncoder.encoded(
                        Frame(kind: .request(Request(callID: Self.last, service: DiagnosticsMethods.service, method: "Echo")))))
            }

            static let last: UInt64 = 1 << 40

            /// The meaning of the octets, as far as they are frames: up to the first length that is none.
            private var said: [Frame?] {
                var (said, rest): ([Frame?], ArraySlice<UInt8>) = ([], octets[...])
                while rest.count >= 4 {
                    let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
                    guard (1...frameLimit).contains(length), rest.count >= 4 + length else { return said + [nil] }
                    said.append(try? Frame(serialized: Array(rest.dropFirst(4).prefix(length))))
                    rest = rest.dropFirst(4 + length)
                }
                return rest.isEmpty ? said : said + [nil]
            }

            /// The end is the request by which it is known.
            var endsWithLast: Bool {
                if case .request(let request)? = said.last??.kind { request.callID == Self.last } else { false }
            }

            /// Nothing in it makes the answers a matter of time: deadlines, delays, calls that are given up, and peers that leave.
            var isTimeless: Bool {
                said.allSatisfy { frame in
                    switch frame?.kind {
                    case .request(let request):
                        let echo = try? EchoMessage(serialized: request.payload)
                        return request.timeoutMicroseconds == 0 && echo?.delayMilliseconds ?? 0 == 0
                    case .hello(let hello): return hello.idleTimeoutMilliseconds == RawPeer.hello.idleTimeoutMilliseconds
                    case .cancel, .goAway: return false
                    default: return true
                    }
                }
            }
        }

        /// The answers, in the order of the calls. Where the connection was ended, only the reason counts: the answers before are a matter of time.
        private func answers(_ server: TestServer, _ pieces: [[UInt8]]) async throws -> [String] {
            let peer = try await server.raw()
            defer { peer.close() }
            for piece in pieces { peer.send(bytes: piece) }
            var seen: [String] = []
            while let kind = await peer.next() {
                switch kind {
                case .goAway(let goAway): return ["ended: \(goAway.code)"]
                case .response(let response):
                    if response.callID == Input.last { return seen.sorted() }
                    seen.append("\(response)")
                default: seen.append("\(kind)")
                }
            }
            return ["ended without a word"]
        }
    }
}

private enum Mutation {
    /// The longest of the lengths that are put in place of others.
    private static let longestLength: UInt32 = 1032

    /// Changes one to three things.
    /// - Returns: The last one's name.
    static func change(_ frames: inout [[UInt8]], _ random: inout SeededNumbers) -> String {
        var kind = ""
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let number = frames.indices.randomElement(using: &random) ?? 0
            guard let place = frames[number].indices.randomElement(using: &random) else { continue }
            switch Int.random(in: 0..<9, using: &random) {
            case 0, 1, 2:
                kind = "a bit"
                frames[number][place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 3:
                kind = "an octet"
                frames[number][place] = [0, 1, 0x7f, 0x80, 0xff].randomElement(using: &random) ?? 0
            case 4:
                kind = "a length"
                let length = UInt32.random(in: 0...longestLength, using: &random)
                frames[number].replaceSubrange(..<min(4, frames[number].count), with: withUnsafeBytes(of: length.bigEndian, Array.init))
            case 5:
                kind = "an end that is missing"
                frames[number].removeSubrange(place...)
            case 6:
                kind = "a beginning that is missing"
                frames[number].removeSubrange(...place)
            case 7:
                kind = "twice"
                frames.insert(frames[number], at: number)
            default:
                kind = "an octet more"
                frames[number].insert(UInt8.random(in: 0...255, using: &random), at: place)
            }
        }
        return kind
    }
}

private struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
        return value ^ value >> 31
    }
}
