internal import Catalogue
internal import Contracts
internal import TextEncodings

/// The TV providers among which a person chooses.
struct ProviderList {
    /// One choice, as the template wants it.
    let entries: [[String: Any]]

    /// The active ones that a browser can sign in at; the one that the app chose first, the others by name.
    init(_ catalogue: Catalogue, _ code: RegistrationCode) {
        let mvpds = catalogue.activeIntegrations(requestor: code.requestor).map(\.mvpd).filter { Self.isSupported($0, catalogue) }
        let sorted = mvpds.sorted { ($0.id == code.mvpd ? 0 : 1, $0.displayName) < ($1.id == code.mvpd ? 0 : 1, $1.displayName) }
        entries = sorted.map { mvpd in
            let name = mvpd.displayName.isEmpty ? mvpd.id : mvpd.displayName
            var entry: [String: Any] = [
                "name": name, "initial": String(name.prefix(1)).uppercased(),
                "address": "\(ActivationPages.path)/sign-in?code=\(PercentEncoding.encode(code.code))&mvpd=\(PercentEncoding.encode(mvpd.id))",
            ]
            if !mvpd.logoURL.isEmpty { entry["logo"] = mvpd.logoURL }
            return entry
        }
    }

    /// TempPass needs no browser. A proxied MVPD signs people in as the one through which it is reached.
    private static func isSupported(_ mvpd: Mvpd, _ catalogue: Catalogue) -> Bool {
        switch mvpd.signIn ?? (mvpd.isProxied ? catalogue.mvpd(mvpd.proxyMvpdID)?.signIn : nil) {
        case .saml, .oauth: true
        case .tempPass, nil: false
        }
    }
}
