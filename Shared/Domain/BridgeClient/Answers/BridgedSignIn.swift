public import Clocks
public import OutboundHttp
internal import StrictJson

/// The upstream's answer to a new sign-in (rest-v2 §2.2).
public enum BridgedSignIn: Hashable, Sendable {
    /// A browser must go there.
    /// - Parameters:
    ///   - path: Root-relative or absolute, as it came; nobody may be sent there before `BridgedAddress` has checked it.
    ///   - code: Upstream's, sealed wherever it is kept.
    ///   - end: When upstream forgets it.
    case browser(path: String, code: String, end: Timestamp)
    /// The device is signed in already, by trial or by degradation too: its profile says how.
    case done
    /// Upstream lacks something that we sent: it does not accept it.
    case incomplete(missing: [String])
    /// The platform's own sign-in goes on with this request (rest-v2 §2.12).
    case partner(request: String, attributeNames: [String])

    private static let longestAddress = 4096

    /// - Throws: `BridgeFailure`; `unusable` when the action is not known or lacks its parts.
    public init(_ answer: OutboundAnswer) throws(BridgeFailure) {
        let body = try BridgeAnswer.document(answer, accepted: [200, 201])
        switch body["actionName"]?.string {
        case "authorize": self = .done
        case "authenticate":
            guard let path = body["url"]?.string, (1...Self.longestAddress).contains(path.utf8.count) else { throw .unusable("url is missing") }
            guard let code = body["code"]?.string, Self.isCode(code) else { throw .unusable("code is missing") }
            guard let end = body["notAfter"]?.moment else { throw .unusable("notAfter is missing") }
            self = .browser(path: path, code: code, end: end)
        case "resume", "retry":
            self = .incomplete(missing: body["missingParameters"]?.strings.map { $0 == "domain" ? "domainName" : $0 } ?? [])
        case "partner_profile":
            guard let request = body["authenticationRequest"]?["request"]?.string, !request.isEmpty else {
                throw .unusable("authenticationRequest.request is missing")
            }
            self = .partner(request: request, attributeNames: body["authenticationRequest"]?["attributesNames"]?.strings ?? [])
        case let other: throw .unusable("actionName is \(other.map { "'\($0.prefix(40))'" } ?? "missing")")
        }
    }

    private static func isCode(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0) }
    }
}

/// The upstream's answer to a logout (rest-v2 §2.11). Every known answer means that the profile is gone.
public struct BridgedLogout: Hashable, Sendable {
    /// Where a browser may end the session at the MVPD; unchecked; empty: nowhere.
    public let path: String

    /// - Parameter mvpd: Upstream's id.
    /// - Throws: `BridgeFailure`; `unusable` without an action.
    public init(_ answer: OutboundAnswer, mvpd: String) throws(BridgeFailure) {
        let body = try BridgeAnswer.document(answer)
        guard let entry = body["logouts"]?[mvpd], let action = entry["actionName"]?.string else {
            throw .unusable("logouts has no entry of the provider")
        }
        guard ["logout", "complete", "partner_logout", "invalid"].contains(action) else { throw .unusable("actionName is not known") }
        path = entry["url"]?.string ?? ""
    }
}
