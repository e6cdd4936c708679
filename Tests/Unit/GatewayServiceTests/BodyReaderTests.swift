@testable import GatewayEdge
internal import Hummingbird
internal import Testing

@Suite struct BodyReaderTests {
    private func request(_ length: Int?, _ body: RequestBody) -> Request {
        var headers = HTTPFields()
        headers[.contentLength] = length.map(String.init)
        return Request(head: HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/", headerFields: headers), body: body)
    }

    @Test func aBodyThatNeverEndsIsTooSlow() async throws {
        let (body, source) = RequestBody.makeStream()
        await source.yield(ByteBuffer(string: "a"))
        let error = await #expect(throws: BodyRejection.self) {
            try await BodyReader(timeout: .milliseconds(20)).read(request(10, body), limit: 100)
        }
        #expect(error == .tooSlow)
        source.finish()
    }

    @Test func aDeclaredLengthOverTheLimitIsNotRead() async throws {
        let (body, source) = RequestBody.makeStream()
        let error = await #expect(throws: BodyRejection.self) {
            try await BodyReader(timeout: .seconds(60)).read(request(101, body), limit: 100)
        }
        #expect(error == .tooLarge)
        source.finish()
    }

    @Test("a body of exactly the limit is read, whether it came with its head or after it, and one octet more is not")
    func atTheLimit() async throws {
        let reader = BodyReader(timeout: .seconds(60))
        let (full, over) = (ByteBuffer(repeating: 0x61, count: 100), ByteBuffer(repeating: 0x61, count: 101))
        #expect(try await reader.read(request(100, RequestBody(buffer: full)), limit: 100) == full)
        #expect(try await reader.read(request(100, RequestBody(buffer: ByteBuffer())), whole: full, limit: 100) == full)
        await #expect(throws: BodyRejection.tooLarge) {
            try await reader.read(request(101, RequestBody(buffer: ByteBuffer())), whole: over, limit: 100)
        }
    }

    @Test func aLyingLengthIsStopped() async throws {
        let error = await #expect(throws: BodyRejection.self) {
            try await BodyReader(timeout: .seconds(60)).read(
                request(5, RequestBody(buffer: ByteBuffer(repeating: 0x61, count: 200))), limit: 100)
        }
        #expect(error == .tooLarge)
    }

    @Test("a body of unknown length is read to its end, within the limit")
    func withoutALength() async throws {
        let reader = BodyReader(timeout: .seconds(60))
        let (body, source) = RequestBody.makeStream()
        source.finish()
        #expect(try await reader.read(request(nil, body), limit: 100).readableBytes == 0)
        #expect(try await reader.read(request(nil, RequestBody(buffer: ByteBuffer(repeating: 0x61, count: 100))), limit: 100).readableBytes == 100)
        await #expect(throws: BodyRejection.tooLarge) {
            try await reader.read(request(nil, RequestBody(buffer: ByteBuffer(repeating: 0x61, count: 101))), limit: 100)
        }
    }
}
