import Clocks
import ContractRuntime
import Contracts
import Cryptography
import Doubles
import Faults
import Foundation
import Identifiers
import Logging
import ManualClocks
import Storage

@testable import AutoSignInService

/// The service over a real store, with an Apple, logins and a clock that the test controls.
struct AppleRig {
    static let tv = "example.acme.tv"
    static let sports = "example.acme.sports"
    static let radio = "example.acme.radio"
    static let web = "example.acme.web"
    static let callback = "https://tv.acme.example/apple/v1/callback"

    let folder: TestFolder
    let clock = ManualClock(TokenMaker.now)
    let logins: LoginBook
    let apple: ScriptedApple
    let log = LineRecorder()
    private let place: StorePlace
    private let keys: AutoSignInKeys
    let files: Store
    let service: AutoSignIn
    let context = CallContext()

    init() throws {
        let folder = try TestFolder()
        let key = try P256PrivateKey.generate()
        try folder.write(try key.pem(), to: "sign-in.key")
        self.folder = folder
        logins = LoginBook(clock: clock)
        apple = ScriptedApple(clock: clock, key: key.publicKey)
        place = try StorePlace(in: folder)
        keys = try AutoSignInKeys(hex: SymmetricKey.random().hexRepresentation)
        (files, service) = try Self.open(place, folder, keys, logins, apple, clock, log)
    }

    private init(beside rig: AppleRig) throws {
        (folder, place, keys, logins, apple) = (rig.folder, rig.place, rig.keys, rig.logins, rig.apple)
        clock.set(rig.clock.now())
        (files, service) = try Self.open(place, folder, keys, logins, apple, clock, log)
    }

    /// Another copy of the service on the same store.
    func copy() throws -> AppleRig { try AppleRig(beside: self) }

    private static func open(
        _ place: StorePlace, _ folder: TestFolder, _ keys: AutoSignInKeys, _ logins: LoginBook, _ apple: ScriptedApple, _ clock: ManualClock,
        _ log: LineRecorder
    ) throws -> (Store, AutoSignIn) {
        let files = try place.open()
        let settings = AutoSignInSettings(
            callbackURL: Self.callback, devicesURL: "https://tv.acme.example/devices",
            apple: AppleAddresses(
                identityURL: ScriptedApple.server, productionURL: "http://apple.test/storekit", sandboxURL: "http://apple.test/storekit-sandbox"))
        let service = AutoSignIn(
            AutoSignInParts(
                settings: settings, keys: keys, appleKeys: AppleKeyFolder(path: folder.path), store: AutoSignInStore(files, cached: 64),
                logins: logins, catalogue: ChangingCatalogue(Self.configuration), transport: apple, clock: clock, random: SystemRandom(),
                logger: Logger(label: "test") { _ in log }))
        return (files, service)
    }

    private static let configuration = Configuration(
        version: 1,
        programmers: [
            Programmer(
                id: "acme",
                appleTeams: [
                    AppleTeam(
                        teamID: "ACMETEAM01", signInKeyID: "ACMESIGN01", signInKeyReference: "sign-in.key", issuerID: "issuer-1",
                        purchaseKeyID: "ACMEPURCH1", purchaseKeyReference: "purchase.key",
                        groups: [
                            AppleAppGroup(id: tv, bundleIDs: [tv, sports], servicesIDs: [web]), AppleAppGroup(id: radio, bundleIDs: [radio]),
                        ])
                ]),
            Programmer(id: "bravo"),
        ],
        requestors: [
            Requestor(id: "ACME1", programmerID: "acme", domains: [Domain(name: "acme.example")]), Requestor(id: "ACME2", programmerID: "acme"),
            Requestor(id: "BRAVO", programmerID: "bravo"),
        ])

    // MARK: What apps do

    func call(_ device: String = "tv-1", requestor: String = "ACME1", client: String = "tv") -> DeviceCall {
        DeviceCall(
            accessToken: client, requestor: requestor, deviceID: device, device: DeviceInformation(model: "Apple TV", osName: "tvOS"),
            clientAddress: "203.0.113.7")
    }

    func nonce(_ device: String = "tv-1", client: String = AppleRig.tv) async throws -> String {
        try await service.signInWithApple.createNonce(CreateNonceRequest(call: call(device), clientID: client), context: context).nonce
    }

    /// The result of a device's own Sign in with Apple.
    struct Signed: Sendable {
        var token: String
        var code: String
        var nonce: String
    }

    /// A person approves at Apple.
    func approve(
        _ subject: String = TokenMaker.subject, device: String = "tv-1", client: String = AppleRig.tv, supportsNonce: Bool = true,
        _ change: (TokenMaker) -> TokenMaker = { $0 }
    ) async throws -> Signed {
        let nonce = try await nonce(device, client: client)
        var maker = TokenMaker(clientID: client, nonce: supportsNonce ? nonce : nil, subject: subject, now: clock.now())
        if !supportsNonce { maker = maker.with("nonce_supported", "false") }
        let code = apple.makeCode(client: client, subject: subject, nonce: supportsNonce ? nonce : nil)
        maker = maker.with("c_hash", "\"\(TokenMaker.hash(code))\"")
        return Signed(token: try change(maker).token(), code: code, nonce: nonce)
    }

    func signIn(
        _ signed: Signed, device: String = "tv-1", client: String = AppleRig.tv, user: FirstTimeUser? = nil, creates: Bool = false,
        requestor: String = "ACME1", key: String = ""
    ) async throws -> AppleSignInOutcome {
        let request = AppleSignInRequest(
            call: call(device, requestor: requestor), identityToken: signed.token, code: signed.code, nonce: signed.nonce, clientID: client,
            user: user, createAccount: creates, idempotencyKey: key)
        return try await service.signInWithApple.signIn(request, context: context)
    }

    func signIn(ticket: String, device: String = "tv-1", creates: Bool = true, key: String = "") async throws -> AppleSignInOutcome {
        let request = AppleSignInRequest(call: call(device), ticket: ticket, createAccount: creates, idempotencyKey: key)
        return try await service.signInWithApple.signIn(request, context: context)
    }

    /// A person approves and gets in.
    @discardableResult
    func enter(
        _ subject: String = TokenMaker.subject, device: String = "tv-1", client: String = AppleRig.tv, user: FirstTimeUser? = nil,
        _ change: (TokenMaker) -> TokenMaker = { $0 }
    ) async throws -> AppleSignedIn {
        let outcome = try await signIn(
            approve(subject, device: device, client: client, change), device: device, client: client, user: user, creates: true)
        return try outcome.entered()
    }

    func link(_ signed: Signed, device: String = "tv-1", client: String = AppleRig.tv, ticket: String = "") async throws -> AppleLink {
        let request =
            ticket.isEmpty
            ? LinkAppleRequest(call: call(device), identityToken: signed.token, code: signed.code, nonce: signed.nonce, clientID: client)
            : LinkAppleRequest(call: call(device), ticket: ticket)
        return try await service.signInWithApple.linkApple(request, context: context)
    }

    func unlink(device: String = "tv-1", link: String = "") async throws {
        _ = try await service.signInWithApple.unlinkApple(
            UnlinkAppleRequest(caller: Caller(who: .device(call(device))), linkID: link), context: context)
    }

    // MARK: What Apple does

    /// - Parameter claims: JSON texts put in place of the notification's own.
    func notify(
        _ type: String, subject: String = TokenMaker.subject, audience: String = AppleRig.tv, at moment: Timestamp? = nil, jti: String? = nil,
        asString: Bool = true, milliseconds: Bool = true, claims: [String: String?] = [:], key: RSAPrivateKey = TokenMaker.keys[0]
    ) async throws -> AppleNotificationResponse {
        let moment = moment ?? clock.now()
        let time = milliseconds ? moment.milliseconds : moment.seconds
        let events = "{\"type\":\"\(type)\",\"sub\":\"\(subject)\",\"event_time\":\(time)}"
        var members = [
            "iss": "\"https://appleid.apple.com\"", "aud": "\"\(audience)\"", "iat": "\(clock.now().seconds)",
            "jti": "\"\(jti ?? UUID().uuidString)\"",
            "events": asString ? "\"\(events.replacingOccurrences(of: "\"", with: "\\\""))\"" : events,
        ]
        for (name, text) in claims { members[name] = text }
        let payload = try TokenMaker.token(
            header: "{\"kid\":\"\(TokenMaker.keyName)\",\"alg\":\"RS256\"}", payload: TokenMaker.object(members.map { ($0.key, $0.value) }), key: key)
        return try await service.signInWithApple.receiveNotification(AppleNotification(payload: payload), context: context)
    }

    // MARK: What a test looks at

    func account(_ id: String) async throws -> AccountRecord? { try await files.read { try $0.account(AccountID(id)) } }

    func accountCount() async throws -> Int { try await files.read { try $0.value("SELECT count(*) FROM account") as Int? ?? 0 } }

    func links(of account: String) async throws -> [AppleLinkRecord] { try await files.read { try $0.appleLinks(of: AccountID(account)) } }

    func grants(of account: String) async throws -> [AppleGrantRecord] {
        try await files.read { database in try database.appleLinks(of: AccountID(account)).flatMap { try database.appleGrants(of: $0.id) } }
    }

    func session(_ id: String) async throws -> StreamingSessionRecord? { try await files.read { try $0.session(StreamingSessionID(id)) } }

    func deliver() async throws { try await service.outbox.deliverDue() }
}

struct Unexpected: Error {}

extension AppleSignInOutcome {
    func entered() throws -> AppleSignedIn {
        guard case .signedIn(let signedIn) = outcome else { throw Unexpected() }
        return signedIn
    }

    func question() throws -> TicketIssued {
        guard case .ticket(let ticket) = outcome else { throw Unexpected() }
        return ticket
    }
}

extension AppleSignedIn {
    var accountID: String { session?.accountID ?? "" }
    var sessionID: String { session?.id ?? "" }
}
