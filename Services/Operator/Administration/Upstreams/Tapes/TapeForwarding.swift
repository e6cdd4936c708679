internal import CommandKit
internal import Foundation
internal import NIOCore
internal import StrictJson

/// Hands calls on to an upstream, and its answers back.
struct TapeForwarding: Sendable {
    let exchange: HTTPExchange
    /// The upstream's origin.
    let upstream: String

    private static let ownHeaders: Set<String> = [
        "host", "content-length", "connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "accept-encoding", "proxy-connection",
    ]
    private static let timeout: TimeAmount = .seconds(60)

    /// The origin of an address that calls may go to.
    /// - Throws: `CommandFailure` for one that is no origin, or would carry secrets in the clear.
    static func origin(_ text: String) throws -> String {
        guard let url = URL(string: text), let scheme = url.scheme?.lowercased(), let host = url.host, !host.isEmpty, url.user == nil,
            ["", "/"].contains(url.path), url.query == nil, url.fragment == nil, ["http", "https"].contains(scheme)
        else {
            throw CommandFailure("'\(text)' is no origin", advice: "give scheme, host and port, such as https://api.vendor.example", exit: .usage)
        }
        guard scheme == "https" || ["127.0.0.1", "localhost", "::1", "[::1]"].contains(host) else {
            throw CommandFailure("'\(text)' is not https", advice: "secrets go there; http is for this machine alone", exit: .usage)
        }
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }

    /// - Throws: What the client throws.
    func ask(_ call: TapeCall) async throws -> TapeAnswer {
        let headers = call.headers.filter { !Self.ownHeaders.contains($0.name.lowercased()) }.map { ($0.name, $0.value) }
        let answer = try await exchange.exchange(
            call.method, upstream + call.uri, headers: headers, body: call.body.isEmpty ? nil : ByteBuffer(bytes: call.body), timeout: Self.timeout)
        return TapeAnswer(
            status: answer.status, headers: answer.headers.filter { !Self.ownHeaders.contains($0.name.lowercased()) }, body: answer.body)
    }

    /// The answer with the recorder's address where it sends browsers to the upstream's: the cluster knows the recorder as the upstream.
    func returned(_ answer: TapeAnswer, by own: String) -> TapeAnswer {
        guard String(decoding: answer.body, as: UTF8.self).contains("\"url\""), let root = try? JsonDocument(parsing: answer.body).root else {
            return answer
        }
        var changed = answer
        changed.body = Array(moved(TapeValue(root), "", to: own).text.utf8)
        return changed
    }

    private func moved(_ value: TapeValue, _ name: String, to own: String) -> TapeValue {
        switch value {
        case .array(let elements): .array(elements.map { moved($0, name, to: own) })
        case .object(let members): .object(members.map { TapeValue.Member(name: $0.name, value: moved($0.value, $0.name, to: own)) })
        case .string(let text) where name == "url" && (text == upstream || text.hasPrefix(upstream + "/")):
            .string(own + text.dropFirst(upstream.count))
        default: value
        }
    }
}
