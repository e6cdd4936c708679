internal import FoundationEssentials
internal import Hummingbird

/// Reads and answers control messages.
enum ControlReader {
    private static let largestMessage = 24 * 1024 * 1024

    static func read<Value: Decodable>(_ type: Value.Type, _ request: Request) async throws -> Value {
        let octets = Array(buffer: try await request.body.collect(upTo: largestMessage))
        return try checked { try SettingsFault.decode(type, from: octets) }
    }

    /// Says what is wrong with a message.
    static func checked<Value>(_ act: () throws -> Value) throws -> Value {
        do {
            return try act()
        } catch let fault as SettingsFault {
            throw HTTPError(.badRequest, message: "\(fault)")
        }
    }

    static func json(_ value: some Encodable) throws -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try UpstreamAnswer.encoded(value))))
    }

    /// A value of the query, decoded.
    static func query(_ name: String, _ request: Request) -> String? {
        (try? FormFields(encoded: request.uri.query ?? "").single(name)) ?? nil
    }
}
