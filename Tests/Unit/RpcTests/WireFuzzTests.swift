import ContractRuntime
import Contracts
import Foundation
import Frames
import NIOCore
import Rpc
import Testing

extension RpcTests {
    /// Octets of a peer through the whole of a real server, TLS included: the same frames in one segment, octet by octet and cut anywhere have the same answers,
    /// end no process, and leave the server serving others.
    ///
    /// `BOXOFFICE_FUZZ_SECONDS` plays for longer than a second, up to the 60 s of this suite; `BOXOFFICE_FUZZ_SEED` repeats an input.
    @Suite struct WireFuzzTests {
        private static let environment = ProcessInfo.processInfo.environment
        private static let seconds = environment["BOXOFFICE_FUZZ_SECONDS"].flatMap(Double.init) ?? 1
        private static let firstSeed = environment["BOXOFFICE_FUZZ_SEED"].flatMap(UInt64.init) ?? 1

        @Test("however frames are cut, each call has the same answer, or the connection the same end")
        func frames() async throws {
            let server = try await TestServer()
            let end = ContinuousClock.now + .seconds(Self.seconds)
            var seed = Self.firstSeed
            repeat {
                var random = SeededNumbers(seed)
                let input = try Input(&random)
                let whole = try await answers(server, input, [input.octets])
                let place = Int.random(in: 1..<input.octets.count, using: &random)
                for pieces in [input.octets.map { [$0] }, [Array(input.octets[..<place]), Array(input.octets[place...])]] {
                    let cut = try await answers(server, input, pieces)
                    try #require(cut == whole, "seed \(seed), \(pieces.count) pieces, cut at \(place)")
                }
                seed += 1
            } while ContinuousClock.now < end && Self.environment["BOXOFFICE_FUZZ_SEED"] == nil
            #expect(try await server.stillServes())
        }

        private struct Input {
            var octets: [UInt8]

            init(_ random: inout SeededNumbers) throws {
                octets = try FrameEncoder.encoded(Frame(kind: .hello(RawPeer.hello)))
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
                    case 6:
                        octets += try FrameEncoder.encoded(Frame(kind: .ping(Ping())))
                    case 7: octets += [0, 0, 0, 0]
                    case 8: octets += [0, 0, 0, 3, 0xff, 0xff, 0xff]
                    case 9: octets += [0x7f, 0xff, 0xff, 0xff]
                    default: break
                    }
                    octets += try FrameEncoder.encoded(Frame(kind: .request(request)))
                }
                // The end is known when this one is answered, unless the connection ends before.
                octets += try FrameEncoder.encoded(
                    Frame(kind: .request(Request(callID: Self.last, service: DiagnosticsMethods.service, method: "Echo"))))
            }

            static let last: UInt64 = 1 << 40
        }

        /// What came, in the order of the calls; where the connection was ended, only why: what was answered before is a matter of time.
        private func answers(_ server: TestServer, _ input: Input, _ pieces: [[UInt8]]) async throws -> [String] {
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
