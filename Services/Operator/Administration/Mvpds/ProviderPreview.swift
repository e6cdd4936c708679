internal import CommandKit
internal import Foundation
internal import TextEncodings

/// The content of an MVPD's metadata, as the administration API tells it.
struct ProviderPreview: Sendable {
    struct Problem: Decodable, Hashable, Sendable {
        let field: String?
        let message: String

        var text: String { field.map { $0.isEmpty ? message : "\($0) \(message)" } ?? message }
    }

    struct Certificate: Decodable, Hashable, Sendable {
        let sha256: String
        let subject: String
        /// Milliseconds since 1970.
        let notAfter: Int64
        let signs: Bool
        let problem: String?
        /// Nil from a release before it.
        let warning: String?
    }

    struct Endpoint: Decodable, Hashable, Sendable {
        let service: String
        let location: String
    }

    private struct Answer: Decodable {
        let entityId: String
        let displayName: String?
        let endpoints: [Endpoint]
        let certificates: [Certificate]
        let nameIdFormats: [String]
        let problems: [Problem]
        let warnings: [Problem]
        let document: String?
    }

    let entityID: String
    let displayName: String?
    let endpoints: [Endpoint]
    let certificates: [Certificate]
    let nameIDFormats: [String]
    /// The problems that keep it from being taken.
    let problems: [Problem]
    /// The points at which a person should look nevertheless.
    let warnings: [Problem]
    /// The metadata itself.
    let document: String
    private let body: [UInt8]

    /// - Throws: `CommandFailure` when the answer is of another kind.
    init(_ answer: HTTPAnswer, sent: String?) throws {
        guard let read = try? JSONDecoder().decode(Answer.self, from: Data(answer.body)) else {
            throw CommandFailure("the cluster's answer is of another kind", advice: "it is of an earlier release: upgrade it")
        }
        (entityID, displayName, endpoints, certificates) = (read.entityId, read.displayName, read.endpoints, read.certificates)
        (nameIDFormats, problems, warnings) = (read.nameIdFormats, read.problems, read.warnings)
        document = sent ?? read.document ?? ""
        body = answer.body
    }

    /// - Parameter document: With `metadata` or `address`.
    static func read(_ document: [String: Any], for mvpd: String) async throws -> ProviderPreview {
        let answer = try await AdministrationCall.send(
            "POST", "/mvpds/\(FormEncoding.encode(mvpd))/metadata", body: try AdministrationCall.json(document))
        return try ProviderPreview(answer, sent: document["metadata"] as? String)
    }

    /// The catalogue's `oauth`, of a discovery document; empty of SAML metadata.
    var oauth: [String: Any] {
        let object = (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any]
        return (object?["entry"] as? [String: Any])?["oauth"] as? [String: Any] ?? [:]
    }

    var isOAuth: Bool { !oauth.isEmpty }

    func json() throws -> String {
        var object = (try JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] ?? [:]
        object["document"] = nil
        return try AdministrationCall.json(object)
    }

    func text(_ console: Console) -> String {
        var lines = [console.bold(displayName ?? entityID), "  \(isOAuth ? "issuer" : "entity id")  \(entityID)"]
        lines += endpoints.map { "  \($0.service)  \($0.location)" }
        if !isOAuth { lines.append("  NameID formats  \(nameIDFormats.isEmpty ? "none is named" : nameIDFormats.joined(separator: ", "))") }
        if !certificates.isEmpty { lines.append("Certificates: compare each SHA-256 with what the MVPD told you by another way") }
        for (index, certificate) in certificates.enumerated() {
            guard !certificate.sha256.isEmpty else {
                lines.append(
                    "  certificate \(index + 1)\(certificate.signs ? "" : ", for encryption only"): \(certificate.problem ?? "cannot be read")")
                continue
            }
            let end = Date(timeIntervalSince1970: Double(certificate.notAfter) / 1000).formatted(.iso8601.year().month().day())
            let use = certificate.signs ? "" : ", for encryption only"
            lines.append("  \(certificate.sha256)")
            lines.append("      \(certificate.subject), until \(end)\(use)\((certificate.problem ?? certificate.warning).map { ": \($0)" } ?? "")")
        }
        lines += problems.map { "\(console.bad("cannot be taken"))  \($0.text)" }
        lines += warnings.map { "look at  \($0.text)" }
        let next =
            isOAuth
            ? "add it with --client-id ID --client-secret-reference NAME"
            : "add it with --confirm SHA256 for each certificate that is the MVPD's own"
                + (certificates.contains { $0.warning != nil } ? ", and --confirm-expired SHA256 for one that is not valid today" : "")
        return (lines + (problems.isEmpty ? [next] : [])).joined(separator: "\n")
    }
}
