import Clocks
import Contracts
import Faults
import SamlExplanation
import Synchronization

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams
@testable import SamlProfile

/// Stands in for the SAML profile: the test decides the meaning of every answer of an MVPD.
final class ScriptedSaml: SamlSignIn, SamlLogout {
    private struct State {
        var verdict: ResponseVerdict = .silent
        var requests: [SamlRequest] = []
        var platformRequests: [PlatformSamlRequest] = []
        var claimed: SamlRequestID?
        var platformFault: Fault?
    }

    private let state = Mutex(State())

    /// Every request so far, oldest first.
    var requests: [SamlRequest] { state.withLock { $0.requests } }

    /// Every verification token so far, oldest first.
    var platformRequests: [PlatformSamlRequest] { state.withLock { $0.platformRequests } }

    /// From now on answers name that request; `nil`: none.
    func claim(_ request: SamlRequestID?) { state.withLock { $0.claimed = request } }

    /// From now on no verification token is made.
    func failPlatformRequests(_ fault: Fault) { state.withLock { $0.platformFault = fault } }

    func answer(_ verdict: ResponseVerdict) { state.withLock { $0.verdict = verdict } }

    /// An assertion that passes every check.
    func accept(
        user: String = "user-42", assertion: String = "_assertion-1", isHomeBased: Bool = false, sessionEnd: Timestamp? = nil,
        attributes: Set<String> = []
    ) {
        let name = Sample.subject(user).name
        answer(
            .accepted(
                VerifiedAssertion(
                    replayKey: .init(issuer: "https://idp.example", assertionID: assertion, expiresAt: t0 + .seconds(600)),
                    nameID: NameID(
                        value: ProviderUserID(name.value), format: name.format, nameQualifier: name.nameQualifier,
                        spNameQualifier: name.serviceProviderQualifier, spProvidedID: name.serviceProvidedID),
                    sessionIndex: name.sessionIndex, sessionNotOnOrAfter: sessionEnd, authnInstant: nil, userID: ProviderUserID(user),
                    attributeNames: attributes,
                    attributes: [
                        MappedAttribute(key: "householdID", value: .string("house-1")), MappedAttribute(key: "channelID", value: .list(["a", "b"])),
                    ] + (isHomeBased ? [MappedAttribute(key: "hba_status", value: .boolean(true))] : []))))
    }

    func request(_ request: SamlRequest) throws(Fault) -> SamlDispatch {
        state.withLock { $0.requests.append(request) }
        return SamlDispatch(url: "https://idp.example/sso", fields: [], issuer: "https://sp.example/on-behalf-of/\(request.requestor)")
    }

    func verdict(
        on response: UnverifiedResponse, to request: SamlExpectations.Recorded, from provider: SamlProvider, now: Timestamp
    ) -> ResponseFinding {
        finding
    }

    func finding(on held: HeldResponse, from provider: SamlProvider, now: Timestamp) -> ResponseFinding {
        ResponseFinding(verdict: .silent, explanation: finding.explanation)
    }

    private var finding: ResponseFinding {
        let verdict = state.withLock { $0.verdict }
        var explanation = ResponseExplanation(SamlRejection(.unusable, ""), at: .replay, hint: "")
        explanation.note(.replay, .notChecked)
        if case .rejected(let rejection) = verdict { explanation.fail(.signature, rejection, hint: "") }
        return ResponseFinding(verdict: verdict, explanation: explanation)
    }

    func platformRequest(_ request: PlatformSamlRequest) throws(Fault) -> PlatformDispatch {
        let fault = state.withLock { state in
            state.platformRequests.append(request)
            state.claimed = request.id
            return state.platformFault
        }
        if let fault { throw fault }
        return PlatformDispatch(encoded: "dG9rZW4=", issuer: "https://sp.example/on-behalf-of/\(request.requestor)")
    }

    func claimedRequest(of response: UnverifiedResponse) throws(SamlRejection) -> SamlRequestID {
        guard let claimed = state.withLock({ $0.claimed }) else { throw SamlRejection(.unsolicited, "The response answers no request.") }
        return claimed
    }

    func verdict(
        on response: UnverifiedResponse, to request: ProfileRequestRecord, from provider: SamlProvider, now: Timestamp
    ) -> ResponseFinding {
        finding
    }

    func logoutRequest(_ visit: LogoutVisit) throws(Fault) -> SamlDispatch {
        SamlDispatch(url: visit.provider.endpoint.logoutURL, fields: [], issuer: "https://sp.example")
    }

    func answer(_ message: UnverifiedLogout, to visit: LogoutVisit) throws(SamlRejection) -> LogoutAnswer { .complete }

    func request(_ message: UnverifiedLogout, from provider: SamlProvider, now: Timestamp) throws(SamlRejection) -> VerifiedLogoutRequest {
        throw SamlRejection(.signatureInvalid, "Only the real profile verifies requests.")
    }

    func logoutResponse(_ reply: LogoutReply) throws(Fault) -> SamlDispatch {
        SamlDispatch(url: reply.provider.endpoint.logoutURL, fields: [], issuer: "https://sp.example")
    }

    func metadata(requestor: RequestorID?, now: Timestamp) throws(Fault) -> String { "metadata of \(requestor?.text ?? "all")" }
}

extension ResponseVerdict {
    /// Signed in nowhere, and not to be asked.
    static var silent: ResponseVerdict { status(codes: ["Responder", "NoPassive"]) }

    /// The MVPD's answer has a status that is no success.
    static func status(codes: [String]) -> ResponseVerdict {
        .status(ResponseStatus(uris: codes.map { "urn:oasis:names:tc:SAML:2.0:status:\($0)" }))
    }
}
