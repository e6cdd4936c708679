package import AuthenticationCore
package import Clocks
internal import Contracts
package import Faults
package import SamlExplanation
package import SamlProfile

/// The service provider's side of single logout, as far as it needs keys and XML.
package protocol SamlLogout: Sendable {
    /// The signed request, ready for the browser (mvpd §2.7).
    /// - Throws: `internal` when the key cannot sign.
    func logoutRequest(_ visit: LogoutVisit) throws(Fault) -> SamlDispatch

    /// What an MVPD answers to the visit's request.
    func answer(_ message: UnverifiedLogout, to visit: LogoutVisit) throws(SamlRejection) -> LogoutAnswer

    /// What an MVPD asks for.
    func request(_ message: UnverifiedLogout, from provider: SamlProvider, now: Timestamp) throws(SamlRejection) -> VerifiedLogoutRequest

    /// The signed answer to an MVPD's request, ready for the browser.
    /// - Throws: `internal` when the key cannot sign.
    func logoutResponse(_ reply: LogoutReply) throws(Fault) -> SamlDispatch
}

/// A visit of a browser at an MVPD.
package struct LogoutVisit: Sendable {
    let requestID: UpstreamRequestID
    package let relay: RelayHandle
    package let requestor: RequestorID
    package let provider: SamlProvider
    package let name: SubjectName
    package let now: Timestamp
}

/// An answer to an MVPD's request.
package struct LogoutReply: Sendable {
    package let id: UpstreamRequestID
    package let provider: SamlProvider
    /// For whom the person was signed in; `nil`: nobody was.
    package let requestor: RequestorID?
    /// `ID` of the request.
    let inResponseTo: String
    /// As it was sent; `nil`: it was not.
    package let relayState: String?
    package let now: Timestamp
}
