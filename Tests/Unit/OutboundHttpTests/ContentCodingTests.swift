import Foundation
import Testing

@testable import OutboundHttp

/// RFC 9110 §8.4: gzip that nobody asked for.
@Suite("Codings of answers")
struct ContentCodingTests {
    /// `gzip -9n` of `{"sub":"user-42"}` and a line end.
    private static let packed = Data(base64Encoded: "H4sIAAAAAAACA6tWKi5NUrJSKi1OLdI1MVKq5QIAbS6/OhIAAAA=").map { Array($0) } ?? []

    private static func answer(_ body: [UInt8], _ headers: String) -> [UInt8] {
        Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\(headers)\r\n".utf8) + body
    }

    private func received(_ body: [UInt8], _ headers: String, largest: Int = 256 * 1024) async throws -> Result<OutboundAnswer, OutboundFailure> {
        let server = PlainServer(answer: Self.answer(body, headers))
        let port = try await server.start()
        let http = OutboundHttp(largestAnswer: largest)
        let route = OutboundRoute(peer: "test", connectTimeout: .seconds(30), responseTimeout: .seconds(30), connections: 1)
        let result: Result<OutboundAnswer, OutboundFailure>
        do throws(OutboundFailure) {
            result = .success(try await http.send(OutboundRequest(.get, "http://127.0.0.1:\(port)/"), by: route, timeLeft: .seconds(60)))
        } catch { result = .failure(error) }
        await http.shutdown()
        try await server.stop()
        return result
    }

    @Test("a connection that failed is told in words, not in the library's structures")
    func connectionWords() async throws {
        let http = OutboundHttp()
        let route = OutboundRoute(peer: "test", connectTimeout: .seconds(30), responseTimeout: .seconds(30), connections: 1)
        do throws(OutboundFailure) {
            _ = try await http.send(OutboundRequest(.get, "http://127.0.0.1:1/"), by: route, timeLeft: .seconds(60))
            Issue.record("nobody listens at port 1")
        } catch {
            #expect(error.kind == .notSent && error.cause.hasSuffix("Connection refused (errno 111)"), "\(error.cause)")
            #expect(!error.cause.contains("SingleConnectionFailure") && !error.cause.contains("NIO"), "\(error.cause)")
        }
        await http.shutdown()
    }

    @Test("gzip and x-gzip are decoded, several members too, and what says so is taken off; without a coding a body stays as it is, gzip or not")
    func decodes() async throws {
        let text = Array("{\"sub\":\"user-42\"}\n".utf8)
        for name in ["Content-Encoding: gzip\r\n", "content-encoding: X-GZIP\r\n", "Content-Encoding: identity, gzip\r\n"] {
            let answer = try await received(Self.packed, name).get()
            #expect(answer.body == text && answer.header("content-encoding") == nil, "\(name)")
        }
        #expect(try await received(Self.packed + Self.packed, "Content-Encoding: gzip\r\n").get().body == text + text)
        for headers in ["", "Content-Encoding: identity\r\n"] { #expect(try await received(Self.packed, headers).get().body == Self.packed) }
    }

    @Test("other codings, bodies that are no gzip or break off, and more than may come of them are refused, with the reason")
    func refuses() async throws {
        let cases: [([UInt8], String, String)] = [
            (Self.packed, "br", "coded as 'br'"), (Self.packed, "gzip, gzip", "coded as 'gzip, gzip'"),
            (Array("{}".utf8), "gzip", "called gzip and is none"), (Array(Self.packed.dropLast(9)), "gzip", "breaks off"),
            (Self.packed + [1], "gzip", "is none"),
        ]
        for (body, coding, reason) in cases {
            let result = try await received(body, "Content-Encoding: \(coding)\r\n")
            guard case .failure(let failure) = result else { Issue.record("\(coding) was taken"); continue }
            #expect(failure.kind == .unusable && failure.cause.contains(reason), "\(failure.cause)")
        }
        let result = try await received(Self.packed, "Content-Encoding: gzip\r\n", largest: 17 + 40)
        #expect(try result.get().body.count == 18)
        guard case .failure(let failure) = try await received(Self.packed, "Content-Encoding: gzip\r\n", largest: 30) else {
            Issue.record("more octets than are read came")
            return
        }
        #expect(failure.cause.contains("longer than is read"))
    }

    @Test("of a body comes at most a hundred times as much, whatever it decodes to")
    func bounds() throws {
        // 80 KiB of zeroes.
        let member =
            Data(
                base64Encoded:
                    "H4sIAAAAAAACA+3BMQEAAADCoPVPbQ0PoAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB4MGkKqacAQAEA"
            ).map { Array($0) } ?? []
        #expect(throws: ContentCoding.Problem.self) { try ContentCoding.gunzip(member, largest: 1 << 30) }
    }
}
