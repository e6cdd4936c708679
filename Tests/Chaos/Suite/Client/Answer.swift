import Foundation

/// One HTTP answer, read whole.
struct Answer: Sendable {
    let status: Int
    let headers: [(name: String, value: String)]
    let body: [UInt8]

    func header(_ name: String) -> String? { headers.first { $0.name.lowercased() == name }?.value }

    var text: String { String(decoding: body, as: UTF8.self) }

    /// The body as a JSON object; empty when it is none.
    var object: [String: Any] { (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] ?? [:] }

    /// Seconds of `Retry-After`; `nil` when it is absent or no number.
    var retryAfter: Int? { header("retry-after").flatMap { Int($0) } }
}
