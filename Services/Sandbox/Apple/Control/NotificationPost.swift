internal import AsyncHTTPClient
internal import FoundationEssentials
internal import NIOCore

/// Posts notifications to the address that a group registered (apple §2.9).
struct NotificationPost: Sendable {
    private struct Message: Encodable {
        let payload: String
    }

    /// - Returns: The status of the answer; 0 when there was none within 15 s.
    func send(_ payload: String, to address: String) async -> Int {
        guard let body = try? JSONEncoder().encode(Message(payload: payload)) else { return 0 }
        var request = HTTPClientRequest(url: address)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        // Of a stand-in: no version says anything of the cluster (RFC 9110 §10.1.5).
        request.headers.add(name: "User-Agent", value: "BoxofficeSandbox")
        request.body = .bytes(ByteBuffer(bytes: body))
        guard let response = try? await HTTPClient.shared.execute(request, timeout: .seconds(15)) else { return 0 }
        return Int(response.status.code)
    }
}
