internal import AuthenticationCore
internal import Catalogue
internal import ContractRuntime
internal import Contracts
internal import Logging
internal import SamlExplanation
internal import SamlProfile
internal import TextEncodings

/// An MVPD lets a browser log out in one of these ways (mvpd §2.7).
enum LogoutWay: Sendable {
    case saml(SamlProvider)
    /// OpenID Connect RP-Initiated Logout 1.0; the browser comes back to an address of ours.
    case openID(OAuthProvider)
    /// The whole address; the browser may come back from there or not.
    case address(String)

    /// - Parameters:
    ///   - requestor: For whom the person was signed in.
    ///   - returnURL: Where the browser is to come back to; empty: nowhere.
    /// - Returns: `nil` when the MVPD has no logout, or is gone.
    init?(_ mvpd: MvpdID, for requestor: RequestorID, in catalogue: Catalogue, returnURL: String = "") {
        guard let record = catalogue.mvpd(mvpd.text) else { return nil }
        if let provider = try? SamlProvider(record, in: catalogue) {
            if !provider.endpoint.logoutURL.isEmpty {
                self = .saml(provider)
            } else if let plain = provider.endpoint.plainLogout, !plain.url.isEmpty {
                self = .address(Self.address(plain.url, [(plain.returnParameter, returnURL)]))
            } else {
                return nil
            }
        } else if let integration = catalogue.integration(requestor: requestor.text, mvpd: record.id),
            let provider = OAuthProvider(record, integration, in: catalogue), !provider.endpoint.logoutURL.isEmpty
        {
            guard !provider.endpoint.returnsFromLogout else {
                self = .openID(provider)
                return
            }
            let parameters = [("client_id", provider.clientID), ("post_logout_redirect_uri", returnURL)]
            self = .address(Self.address(provider.endpoint.logoutURL, parameters))
        } else {
            return nil
        }
    }

    /// - Parameter parameters: Without those that have no name or no value.
    static func address(_ url: String, _ parameters: [(name: String, value: String)]) -> String {
        let query = parameters.filter { !$0.name.isEmpty && !$0.value.isEmpty }.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }
        return query.isEmpty ? url : url + (url.contains("?") ? "&" : "?") + query.joined(separator: "&")
    }
}

/// The MVPDs that a browser visits because of the sessions that ended, one after the other.
struct LogoutPlan: Sendable {
    /// The gateway's address, before the handle.
    let visitAddress: String
    let catalogue: Catalogue

    /// A visit for each person at each MVPD: only who signed in there has something to end (rest-v1 §3.20).
    func sessions(toVisitFor ended: [SessionRecord]) -> [SessionRecord] {
        var seen: Set<[OctetText]> = []
        return ended.filter { session in
            guard session.kind == .regular, let way = LogoutWay(session.mvpd, for: session.key.requestor, in: catalogue), !lacksName(session, way)
            else { return false }
            return seen.insert([session.mvpd.text, session.subject.name.value, session.subject.name.sessionIndex].map { OctetText($0) }).inserted
        }
    }

    /// The sessions that go on at their MVPD: it knows them by a NameID alone, and sent none.
    func sessionsWithoutName(among ended: [SessionRecord]) -> [SessionRecord] {
        ended.filter { session in
            session.kind == .regular && LogoutWay(session.mvpd, for: session.key.requestor, in: catalogue).map { lacksName(session, $0) } ?? false
        }
    }

    private func lacksName(_ session: SessionRecord, _ way: LogoutWay) -> Bool {
        if case .saml = way { session.subject.name.value.isEmpty } else { false }
    }

    func address(_ handle: RelayHandle) -> String { visitAddress + handle.text }
}

/// A browser's visit at the logout of an OpenID provider (OpenID Connect RP-Initiated Logout 1.0 §2, §3).
struct OpenIDLogout: Sendable {
    /// Octets of an address; what is longer goes in a form. Servers refuse longer ones.
    static let longestAddress = 8000

    let provider: OAuthProvider
    /// The id_token of the sign-in; `nil`: none is at hand.
    let hint: ProviderIdentityToken?
    /// The person's id at the provider, where the id is its `sub`; empty: nobody knows it.
    let subject: String
    /// Our address, registered there to the letter.
    let returnAddress: String
    let state: String

    private var parameters: [(name: String, value: String)] {
        [
            ("id_token_hint", hint?.text ?? ""), ("logout_hint", hint == nil ? subject : ""), ("client_id", provider.clientID),
            ("post_logout_redirect_uri", returnAddress), ("state", state),
        ].filter { !$0.1.isEmpty }
    }

    /// Where the browser goes, and what it posts there; no fields: it is redirected.
    var step: (url: String, fields: [FormField]) {
        let address = LogoutWay.address(provider.endpoint.logoutURL, parameters)
        guard address.utf8.count > Self.longestAddress else { return (address, []) }
        return (provider.endpoint.logoutURL, parameters.map { FormField(name: $0.name, value: $0.value) })
    }
}

/// Tells how logouts at MVPDs went. Reasons only, never a value out of a message.
struct LogoutLog: Sendable {
    let logger: Logger
    let metrics: AuthenticationMetrics

    func rejected(_ rejection: SamlRejection, mvpd: MvpdID? = nil, requestor: RequestorID? = nil, trace: TraceContext) -> LogoutStep {
        var metadata: Logger.Metadata = ["reason": "\(rejection.reason.rawValue)", "explanation": "\(rejection.explanation)"]
        metadata["mvpd"] = mvpd.map { "\($0)" }
        metadata["requestor"] = requestor.map { "\($0)" }
        logger.warning("saml_logout_rejected", metadata: metadata.merging(["trace_id": "\(trace.traceID)"]) { $1 })
        metrics.logoutEnded("rejected", reason: rejection.reason.rawValue)
        return LogoutStep(result: .rejected, traceID: trace.traceID)
    }

    /// The session ended here, and not at the MVPD.
    func skipped(_ session: SessionRecord) {
        logger.notice(
            "mvpd_logout_skipped",
            metadata: [
                "mvpd": "\(session.mvpd)", "requestor": "\(session.key.requestor)",
                "explanation": "The MVPD sent no NameID at the sign-in (saml.guidAttributeName), and a LogoutRequest needs it.",
            ])
        metrics.logoutEnded("skipped", reason: "no_name_id")
    }

    func answered(_ answer: LogoutAnswer, mvpd: MvpdID, trace: TraceContext) {
        let metadata: Logger.Metadata = ["mvpd": "\(mvpd)", "trace_id": "\(trace.traceID)"]
        switch answer {
        case .complete: metrics.logoutEnded("complete")
        case .partial: metrics.logoutEnded("partial")
        case .failed(let codes):
            logger.error("saml_logout_failed", metadata: metadata.merging(["status": "\(codes.joined(separator: "/"))"]) { $1 })
            metrics.logoutEnded("failed", reason: codes.last ?? "")
        }
    }

    func obeyed(_ count: Int, mvpds: [MvpdID], trace: TraceContext) {
        logger.info(
            "mvpd_logged_out",
            metadata: [
                "mvpd": "\(mvpds.map(\.text).joined(separator: ","))", "sessions": "\(count)", "trace_id": "\(trace.traceID)",
            ])
        metrics.logoutEnded("by_mvpd")
    }
}
