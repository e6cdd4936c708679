import Clocks
import ContractRuntime
import Contracts
import Cryptography
import Faults
import PeerDoubles
import Testing
import Tokens

@Suite("The authentication double")
struct InMemoryAuthenticationTests {
    private let config: InMemoryConfig

    init() throws { config = try InMemoryConfig(SampleCatalogue.configuration, statementKey: JoseSigningKey(.generate())) }

    @Test func everyDeviceIsSignedInAsADerivedPerson() async throws {
        let double = InMemoryAuthentication(config: config)
        let one = try await double.getSession(SessionRequest(call: Self.call("tv-1")), context: CallContext())
        let again = try await double.getSession(SessionRequest(call: Self.call("tv-1")), context: CallContext())
        let other = try await double.getSession(SessionRequest(call: Self.call("tv-2")), context: CallContext())
        #expect(one == again)
        #expect(one.mvpd == "NorthCable" && one.userID.count == 64 && one.id != other.id && one.userID != other.userID)
    }

    @Test func twoDoublesSayTheSameOfADevice() async throws {
        let (one, other) = (InMemoryAuthentication(config: config), InMemoryAuthentication(config: config))
        let sessions = try await [
            one.getSession(SessionRequest(call: Self.call("tv-1")), context: CallContext()),
            other.getSession(SessionRequest(call: Self.call("tv-1")), context: CallContext()),
        ]
        #expect(sessions[0].id == sessions[1].id && sessions[0].userID == sessions[1].userID)
    }

    @Test func aDeviceThatSignedOutStaysOut() async throws {
        let double = InMemoryAuthentication(config: config)
        let call = Self.call("tv-1")
        #expect(try await double.logout(LogoutRequest(call: call), context: CallContext()).ended == 1)
        #expect(try await double.logout(LogoutRequest(call: call), context: CallContext()).ended == 0)
        await expect(.authenticationSessionMissing) { try await double.findSession(SessionRequest(call: call), context: CallContext()) }
    }

    @Test func signsInThroughACode() async throws {
        var behaviour = DoubleBehaviour()
        (behaviour.signedIn, behaviour.user, behaviour.publicOrigin) = (.afterSignIn, "ada", "http://gateway")
        let double = InMemoryAuthentication(config: config, behaviour: behaviour)
        let call = Self.call("tv-1")
        await expect(.authenticationSessionMissing) { try await double.getSession(SessionRequest(call: call), context: CallContext()) }
        let code = try await double.createRegistrationCode(CreateRegistrationCodeRequest(call: call), context: CallContext()).code
        let start = try await double.startSignIn(
            StartSignInRequest(
                requestor: "ACME1", mvpd: "NorthCable", registrationCode: code, domainName: "acme.example", redirectURL: "http://done"),
            context: CallContext())
        #expect(start.url.hasPrefix("http://gateway/adobe-services/oauth2?state="))
        let state = String(start.url.split(separator: "state=")[1].prefix { $0 != "&" })
        let foreign = CompleteOAuthSignInRequest(state: state, code: "double", browserSecret: "another browser")
        #expect(try await double.completeOAuthSignIn(foreign, context: CallContext()).result == .rejected)
        let second = try await double.startSignIn(
            StartSignInRequest(
                requestor: "ACME1", mvpd: "NorthCable", registrationCode: code, domainName: "acme.example", redirectURL: "http://done"),
            context: CallContext())
        let own = CompleteOAuthSignInRequest(
            state: String(second.url.split(separator: "state=")[1].prefix { $0 != "&" }), code: "double", browserSecret: second.browserSecret)
        let outcome = try await double.completeOAuthSignIn(own, context: CallContext())
        #expect(outcome.result == .signedIn && outcome.redirectURL == "http://done")
        let subject = try await double.findSession(SessionRequest(call: call), context: CallContext())
        #expect(subject.upstreamUserID == "ada" && subject.session?.kind == .regular)
        let maker = RegistrationCodeRequest(accessToken: call.accessToken, requestor: "ACME1", code: code)
        #expect(try await double.getRegistrationCode(maker, context: CallContext()).used)
        await expect(.registrationCodeSpent) { try await double.getRegistrationCode(RegistrationCodeRequest(code: code), context: CallContext()) }
    }

    @Test func codesAreSevenLettersAndNeverTheSame() async throws {
        let double = InMemoryAuthentication(config: config)
        var codes: Set<String> = []
        for number in 0..<2000 {
            let request = CreateRegistrationCodeRequest(call: Self.call("tv-\(number)"))
            codes.insert(try await double.createRegistrationCode(request, context: CallContext()).code)
        }
        #expect(codes.count == 2000 && codes.allSatisfy { $0.utf8.count == 7 })
    }

    @Test func registersAClientOfAGenuineStatementOnly() async throws {
        let double = InMemoryAuthentication(config: config)
        let statement = try await config.issueSoftwareStatement(IssueSoftwareStatementRequest(applicationID: "acme-tv"), context: CallContext())
            .statement
        let client = try await double.registerClient(RegisterClientRequest(softwareStatement: statement), context: CallContext())
        let token = try await double.issueAccessToken(
            IssueAccessTokenRequest(clientID: client.clientID, clientSecret: client.clientSecret, grantType: "client_credentials"),
            context: CallContext())
        let verified = try await double.verifyAccessToken(VerifyAccessTokenRequest(accessToken: token.accessToken), context: CallContext())
        #expect(verified.clientID == client.clientID && verified.applicationID == "acme-tv")
        await expect(.invalidSoftwareStatement) {
            try await double.registerClient(RegisterClientRequest(softwareStatement: "nonsense"), context: CallContext())
        }
    }

    @Test func failsAsItIsTold() async throws {
        let double = InMemoryAuthentication(config: config)
        let request = SessionRequest(call: Self.call("tv-1"))
        double.fail(device: "tv-1", requestor: "ACME1", with: Fault(.authenticationSessionExpired, "Over."))
        await expect(.authenticationSessionExpired) { try await double.findSession(request, context: CallContext()) }
        double.refuse(bearer: "any", with: Fault(.invalidClient, "Revoked."))
        await expect(.invalidClient) { try await double.findSession(request, context: CallContext()) }
        double.fail(with: Fault(.unavailable, "Away."))
        await expect(.unavailable) { try await double.findSession(request, context: CallContext()) }
        double.fail(with: nil)
        await expect(.invalidClient) { try await double.findSession(request, context: CallContext()) }
        #expect(double.sessionQuestions == 4)
    }

    static func call(_ device: String) -> DeviceCall { DeviceCall(accessToken: "any", requestor: "ACME1", deviceID: device) }
}

/// - Parameter operation: Must fail with that code.
func expect<Value: Sendable>(_ code: Fault.Code, _ operation: () async throws -> Value) async {
    do {
        let value = try await operation()
        Issue.record("\(code) was expected; came \(value)")
    } catch {
        #expect((error as? Fault)?.code == code)
    }
}
