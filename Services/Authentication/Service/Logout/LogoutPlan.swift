internal import Catalogue
internal import Contracts

/// How an MVPD lets a browser log out (mvpd §2.7).
enum LogoutWay: Sendable {
    case saml(SamlProvider)
    /// The whole address; the browser may come back from there or not.
    case address(String)

    /// - Parameter returnURL: Where the browser is to come back to; empty: nowhere.
    /// - Returns: `nil` when the MVPD has no logout, or is gone.
    init?(_ mvpd: MvpdID, in catalogue: Catalogue, returnURL: String) {
        guard let record = catalogue.mvpd(mvpd.text) else { return nil }
        if let provider = try? SamlProvider(record, in: catalogue) {
            if !provider.endpoint.logoutURL.isEmpty {
                self = .saml(provider)
            } else if let plain = provider.endpoint.plainLogout, !plain.url.isEmpty {
                self = .address(Self.address(plain.url, plain.returnParameter, returnURL))
            } else {
                return nil
            }
        } else if case .oauth(let endpoint) = record.signIn, !endpoint.logoutURL.isEmpty {
            self = .address(Self.address(endpoint.logoutURL, "post_logout_redirect_uri", returnURL))
        } else {
            return nil
        }
    }

    private static func address(_ url: String, _ parameter: String, _ returnURL: String) -> String {
        guard !parameter.isEmpty, !returnURL.isEmpty else { return url }
        return url + (url.contains("?") ? "&" : "?") + "\(parameter)=\(PercentEncoding.encoded(returnURL))"
    }
}

/// Which MVPDs a browser visits because of the sessions that ended, one after the other.
struct LogoutPlan: Sendable {
    /// Of the gateway, before the handle.
    let visitAddress: String
    let catalogue: Catalogue

    /// A visit for each person at each MVPD: only who signed in there has something to end (rest-v1 §3.20).
    func sessions(toVisitFor ended: [SessionRecord]) -> [SessionRecord] {
        var seen: Set<[String]> = []
        return ended.filter { session in
            guard session.kind == .regular, LogoutWay(session.mvpd, in: catalogue, returnURL: "") != nil else { return false }
            return seen.insert([session.mvpd.text, session.subject.name.value, session.subject.name.sessionIndex]).inserted
        }
    }

    func address(_ handle: RelayHandle) -> String { visitAddress + handle.text }
}
