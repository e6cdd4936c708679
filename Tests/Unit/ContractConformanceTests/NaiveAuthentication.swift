import ContractConformance
import ContractRuntime
import Contracts
import Cryptography
import Faults
import Foundation
import PeerDoubles
import Rpc
import Tokens

/// An authentication service that sends browsers to the MVPD, by SAML or OAuth, and accepts any answer without checks.
struct NaiveAuthentication {
    private let server: ExaminedServer

    /// - Parameter mutant: Answers some calls in place of the service.
    init(_ mutant: AuthenticationMutant? = nil) async throws {
        let authority = try TestAuthority()
        let doubles = try PeerDoubles(
            at: [:], configuration: try SampleCatalogue.configuration(),
            keys: DoubleKeys(statement: JoseSigningKey(try P256PrivateKey.generate())), pki: authority.pki)
        var behaviour = DoubleBehaviour()
        behaviour.signedIn = .afterSignIn
        let sessions = InMemoryAuthentication(config: doubles.config, behaviour: behaviour)
        let services = Self.services(sessions, Believer(sessions: sessions, config: doubles.config), mutant)
        server = try await ExaminedServer(
            .authentication, services, doubles: doubles, authority: authority, patience: mutant == nil ? .seconds(8) : .seconds(2))
    }

    /// - Returns: The verdict on each.
    func examine(_ ids: [String]) async -> [String: RequirementResult] { await server.examine(ids) }

    private static func services(_ sessions: InMemoryAuthentication, _ believer: Believer, _ mutant: AuthenticationMutant?) -> RpcServices {
        var own = RpcServices()
        own.unary(AuthenticationMethods.startSignIn) { try await believer.startSignIn($0, $1) }
        own.unary(AuthenticationMethods.completeSamlSignIn) { try await believer.completeSamlSignIn($0, $1) }
        var rest = RestOfServices(own, replaced: ["StartSignIn", "CompleteSamlSignIn"] + (mutant?.methods ?? []))
        AuthenticationMethods.register(sessions, in: &rest)
        SessionsMethods.register(sessions, in: &rest)
        AuthenticationOperationsMethods.register(sessions, in: &rest)
        var services = rest.services
        mutant?.register(sessions, &services)
        return services
    }
}

/// Asks the MVPD properly, and checks of its answer that the sign-in is pending and nothing else.
private struct Believer: Sendable {
    let sessions: InMemoryAuthentication
    let config: InMemoryConfig

    func startSignIn(_ request: StartSignInRequest, _ context: CallContext) async throws -> SignInStart {
        var start = try await sessions.startSignIn(request, context: context)
        guard let state = URLComponents(string: start.url)?.queryItems?.first(where: { $0.name == "state" })?.value else { return start }
        var mvpd = request.mvpd
        if request.api == .v2 {
            let code = RegistrationCodeRequest(requestor: request.requestor, code: request.registrationCode)
            mvpd = try await sessions.getRegistrationCode(code, context: context).mvpd
        }
        switch config.configuration.mvpds.first(where: { $0.id == mvpd })?.signIn {
        case .saml(let endpoint): ask(endpoint, state, &start)
        case .oauth(let endpoint): ask(endpoint, state, &start)
        default: break
        }
        return start
    }

    private func ask(_ endpoint: SamlEndpoint, _ state: String, _ start: inout SignInStart) {
        let document = """
            <samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" \
            ID="_\(state)" AssertionConsumerServiceURL="https://naive.example/acs"><saml:Issuer>naive</saml:Issuer></samlp:AuthnRequest>
            """
        start.url = endpoint.ssoURL
        start.fields = [
            FormField(name: "SAMLRequest", value: Data(document.utf8).base64EncodedString()), FormField(name: "RelayState", value: state),
        ]
    }

    private func ask(_ endpoint: OAuthEndpoint, _ state: String, _ start: inout SignInStart) {
        start.url =
            "\(endpoint.authorizeURL)?response_type=code&client_id=\(endpoint.clientID)&state=\(state)&nonce=n&redirect_uri=https%3A%2F%2Fnaive.example%2Fback"
            + "&code_challenge_method=S256&code_challenge=\(String(repeating: "A", count: 43))"
    }

    func completeSamlSignIn(_ request: CompleteSamlSignInRequest, _ context: CallContext) async throws -> SignInOutcome {
        var believed = request
        believed.samlResponse = "believed"
        return try await sessions.completeSamlSignIn(believed, context: context)
    }
}
