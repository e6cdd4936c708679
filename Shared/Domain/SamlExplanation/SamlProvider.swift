package import Catalogue
package import Contracts
package import Faults

/// An MVPD that signs people in by SAML.
package struct SamlProvider: Hashable, Sendable {
    package let mvpd: Mvpd
    package let endpoint: SamlEndpoint

    /// An MVPD behind a proxy that has no endpoint of its own is reached at the proxy's.
    /// - Throws: `unimplemented` for an MVPD that signs people in another way.
    package init(_ mvpd: Mvpd, in catalogue: Catalogue) throws(Fault) {
        let signIn = mvpd.signIn ?? (mvpd.isProxied ? catalogue.mvpd(mvpd.proxyMvpdID)?.signIn : nil)
        guard case .saml(let endpoint) = signIn else {
            throw Fault(.unimplemented, "The MVPD does not sign people in by SAML.")
        }
        self.mvpd = mvpd
        self.endpoint = endpoint
    }
}
