import Foundation
import Testing

/// How an independent identity provider answers (mvpd §5).
struct PeerVariant: CustomTestStringConvertible, Sendable {
    /// The binding of our requests: `post` or `redirect`.
    var binding = "post"
    /// `assertion`, `response` or `both`; the same word is the MVPD's `signaturePolicy`.
    var signs = "assertion"
    /// The encryption of the assertion; empty: it is sent in the clear.
    var encrypts = ""

    var testDescription: String { "\(binding), signs \(signs)\(encrypts.isEmpty ? "" : ", encrypts by \(encrypts)")" }

    var members: [String: String] { ["binding": binding, "signs": signs, "encrypts": encrypts] }

    func json(adding more: [String: String] = [:]) throws -> Data { try JSONSerialization.data(withJSONObject: members.merging(more) { $1 }) }
}
