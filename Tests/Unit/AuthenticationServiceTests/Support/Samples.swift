import Clocks
import Contracts
import Cryptography
import Doubles
import ManualClocks

@testable import AuthenticationAdministration
@testable import AuthenticationCore
@testable import AuthenticationSignIn
@testable import AuthenticationUpstreams

/// The moment at which every test begins: 2031-03-04T10:00:00Z.
let t0 = ManualClock().now()

/// Values for the stores' tests; a test gives only the values that it checks.
enum Sample {
    static let device = DeviceInformation(model: "Model 7", osName: "Roku OS")
    /// The same with what the bearer of the application `tv` tells.
    static let toldDevice = DeviceInformation(model: "Model 7", osName: "Roku OS", registeredApplication: "tv")

    static func client(_ id: String = "client-1") -> Client {
        Client(
            id: ClientID(id), secretDigest: ClientSecret("secret of \(id)").digest, softwareID: SoftwareID("software-1"),
            redirectURI: "https://chan7.example/back", issuedAt: t0)
    }

    static func record(
        _ code: String = "QK7M2XD", id: String = "record-1", requestor: String = "CHAN7", device: String = "dev-7f3a",
        client: String = "client-1", lifetime: Duration = .seconds(1800), from moment: Timestamp = t0
    ) -> RegistrationRecord {
        RegistrationRecord(
            id: RegistrationRecordID(id), code: RegistrationCodeText(typed: code), requestor: RequestorID(requestor), mvpd: "DemoCable",
            generatedAt: moment, expiresAt: moment + lifetime, deviceID: DeviceID(device), device: Sample.device, userAgent: "Player/1",
            deviceType: "TV", claims: DeviceClaims(appID: "app-1", deviceUser: "user-1"), registrationURL: "https://chan7.example/tv",
            clientID: ClientID(client))
    }

    static func pending(
        _ request: String = "_request-1", relay: String = "relay-1", record: RegistrationRecord = Sample.record(),
        lifetime: Duration = .seconds(900), isHandedOver: Bool = false
    ) -> PendingSignIn {
        PendingSignIn(
            requestID: SamlRequestID(request), relayState: RelayHandle(relay).digest,
            browserSecret: isHandedOver ? nil : BrowserSecret("browser").digest,
            record: record.id, code: record.code, requestor: record.requestor, mvpd: MvpdID("DemoCable"),
            issuerSent: "https://sp.example/on-behalf-of/CHAN7", redirectURL: "https://chan7.example/done", startedAt: t0,
            expiresAt: t0 + lifetime)
    }

    static func session(
        _ id: String = "session-1", client: String = "client-1", device: String = "dev-7f3a", requestor: String = "CHAN7",
        record: String? = "record-1",
        mvpd: String = "DemoCable", user: String = "0123", claims: DeviceClaims = DeviceClaims(), lifetime: Duration = .seconds(3600),
        origin: SessionOrigin = SessionOrigin(kind: .regular, authenticatedAt: t0), providedID: String = "x1"
    ) -> SessionRecord {
        SessionRecord(
            id: SessionID(id), key: SessionKey(device: DeviceID(device), requestor: RequestorID(requestor)), mvpd: MvpdID(mvpd),
            record: record.map(RegistrationRecordID.init), claims: claims, clientID: ClientID(client), userID: user,
            subject: subject(providedID: providedID), createdAt: t0, expiresAt: t0 + lifetime, origin: origin, updatedAt: t0, device: Sample.device)
    }

    static func subject(_ user: String = "user-42", isHomeBased: Bool = false, providedID: String = "x1") -> ProviderSubject {
        ProviderSubject(
            userID: user,
            name: SubjectName(
                value: user, format: "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent", nameQualifier: "q",
                serviceProviderQualifier: "sp", serviceProvidedID: providedID, sessionIndex: "index-1"),
            isHomeBased: isHomeBased,
            attributes: [UserAttribute(key: "householdID", values: ["house-1"]), UserAttribute(key: "channelID", values: ["a", "b"])])
    }

    static func completion(
        _ request: String = "_request-1", assertion: String = "_assertion-1", session: SessionRecord = Sample.session(),
        record: String = "record-1"
    ) -> SignInCompletion {
        SignInCompletion(
            requestID: SamlRequestID(request), record: RegistrationRecordID(record),
            replay: .init(issuer: "https://idp.example", assertionID: assertion, expiresAt: t0 + .seconds(600)), session: session)
    }
}
