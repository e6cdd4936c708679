internal import SandboxKit
internal import Clocks
internal import FoundationEssentials

/// The body of an authentication session (rest-v2 §2.2, §2.3, §2.12).
struct SessionAnswer: Sendable, Encodable {
    struct AuthenticationRequest: Sendable, Encodable {
        let type: String
        let request: String
        let attributesNames: [String]
    }

    let actionName: String
    let actionType: String
    let reasonType: String
    var missingParameters: [String]?
    var url: String?
    var code: String?
    let sessionId: String
    let serviceProvider: String
    var mvpd: String?
    /// Milliseconds as digits (rest-v2 D2).
    var notBefore: String?
    var notAfter: String?
    var authenticationRequest: AuthenticationRequest?

    /// Nothing needs to be done before a decision.
    static func authorize(
        _ reason: String, mvpd: String, of serviceProvider: String, prefix: String, sessionID: String, code: String? = nil
    ) -> SessionAnswer {
        SessionAnswer(
            actionName: "authorize", actionType: "direct", reasonType: reason,
            url: "\(prefix)/api/v2/\(serviceProvider)/decisions/authorize/\(mvpd)", code: code, sessionId: sessionID,
            serviceProvider: serviceProvider, mvpd: mvpd)
    }

    /// A login can begin, or parameters are missing for it.
    /// - Parameters:
    ///   - incomplete: The action where parameters are missing: `resume`, `retry`.
    ///   - reason: Why the platform does not sign in, where it was asked to.
    init(_ session: VendorSession, incomplete: String, reason: String = "none", _ behaviour: VendorBehaviour) {
        let missing = session.missing(behaviour)
        let path = missing.isEmpty ? "authenticate/\(session.serviceProvider)/\(session.code)" : "\(session.serviceProvider)/sessions/\(session.code)"
        actionName = missing.isEmpty ? "authenticate" : incomplete
        actionType = missing.isEmpty ? "interactive" : "direct"
        reasonType = reason
        missingParameters = missing.isEmpty ? nil : missing
        url = "\(behaviour.sessionURLPrefix)/api/v2/\(path)"
        code = session.code
        sessionId = session.id
        serviceProvider = session.serviceProvider
        mvpd = session.mvpd
        notBefore = String(session.notBefore.milliseconds)
        notAfter = String(session.notAfter.milliseconds)
    }

    init(
        actionName: String, actionType: String, reasonType: String, url: String?, code: String? = nil, sessionId: String, serviceProvider: String,
        mvpd: String?, authenticationRequest: AuthenticationRequest? = nil
    ) {
        self.actionName = actionName
        self.actionType = actionType
        self.reasonType = reasonType
        self.url = url
        self.code = code
        self.sessionId = sessionId
        self.serviceProvider = serviceProvider
        self.mvpd = mvpd
        self.authenticationRequest = authenticationRequest
    }
}

/// Where a login may lead back (rest-v2 D10).
enum RedirectAddress {
    private static let appSchemes = ["adobepass", "adbe"]

    /// - Returns: nil unless the address is absolute, and its host one of the service provider's domains or below one.
    static func checked(_ text: String, for serviceProvider: VendorCatalogue.ServiceProvider) -> String? {
        guard (1...2048).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }), let url = URL(string: text),
            let scheme = url.scheme?.lowercased(), let host = url.host()?.lowercased(), !host.isEmpty
        else { return nil }
        if appSchemes.contains(where: { scheme == $0 || scheme.hasPrefix("\($0).") }) { return text }
        guard scheme == "https" || scheme == "http", url.user() == nil else { return nil }
        return lies(host, in: serviceProvider.domains + serviceProvider.redirectHosts) ? text : nil
    }

    /// True when a host is one of the domains or below one.
    static func lies(_ host: String, in domains: [String]) -> Bool { domains.contains { host == $0 || host.hasSuffix(".\($0)") } }

    /// The host of a `domainName`, which may be a whole address (clients §4.1).
    /// - Returns: nil when it is blank or longer than a host can be.
    static func domain(_ text: String?) -> String? {
        guard let text else { return nil }
        let address = text.split(separator: "://", maxSplits: 1).last ?? ""
        let host = address.prefix { $0 != "/" && $0 != ":" }.filter { $0 != " " }
        return (1...253).contains(host.utf8.count) ? String(host) : nil
    }
}
