import Clocks
import ContractRuntime
import Contracts
import Cryptography
import Doubles
import Faults
import Identifiers
import Logging
import ManualClocks
import Storage

@testable import AutoSignInService

/// The service over a real store, with logins, an Apple and a clock that the test controls.
struct TokenRig {
    let folder: TestFolder
    let clock = ManualClock()
    let logins: LoginBook
    let apple: StoreKitDouble
    let log = LineRecorder()
    let catalogue = ChangingCatalogue(TestCatalogue.configuration)
    private let place: StorePlace
    private let keys: AutoSignInKeys
    private let limits: (redeems: Int, families: Int)
    /// The store of this process's life; `restarted` makes another.
    let files: Store
    /// The same with what is kept of it in memory.
    let store: AutoSignInStore
    let service: AutoSignIn
    let context = CallContext()

    /// - Parameter place: `nil`: a new one of the engine of the test that runs.
    init(redeemsPerMinute: Int = 1000, familiesPerAccount: Int = 20, at place: StorePlace? = nil) throws {
        let folder = try TestFolder()
        let key = try P256PrivateKey.generate()
        try folder.write(try key.pem(), to: "purchase.key")
        self.folder = folder
        self.place = try place ?? StorePlace(in: folder)
        keys = try AutoSignInKeys(hex: SymmetricKey.random().hexRepresentation)
        limits = (redeemsPerMinute, familiesPerAccount)
        logins = LoginBook(clock: clock)
        apple = StoreKitDouble(clock: clock, key: key.publicKey)
        (files, store, service) = try Self.open(self.place, folder, keys, limits, logins, apple, catalogue, clock, log)
    }

    private init(after rig: TokenRig) throws {
        (folder, place, keys, limits, logins, apple) = (rig.folder, rig.place, rig.keys, rig.limits, rig.logins, rig.apple)
        clock.set(rig.clock.now())
        (files, store, service) = try Self.open(place, folder, keys, limits, logins, apple, catalogue, clock, log)
    }

    private static func open(
        _ place: StorePlace, _ folder: TestFolder, _ keys: AutoSignInKeys, _ limits: (redeems: Int, families: Int), _ logins: LoginBook,
        _ apple: StoreKitDouble, _ catalogue: ChangingCatalogue, _ clock: ManualClock, _ log: LineRecorder
    ) throws -> (Store, AutoSignInStore, AutoSignIn) {
        let files = try place.open()
        let store = AutoSignInStore(files, cached: 64)
        let settings = AutoSignInSettings(
            callbackURL: "http://127.0.0.1/callback", devicesURL: "http://127.0.0.1/devices",
            apple: AppleAddresses(
                identityURL: "http://apple.test/appleid", productionURL: StoreKitDouble.production, sandboxURL: StoreKitDouble.sandbox),
            redeemsPerMinute: limits.redeems, familiesPerAccount: limits.families)
        let service = AutoSignIn(
            AutoSignInParts(
                settings: settings, keys: keys, appleKeys: AppleKeyFolder(path: folder.path), store: store,
                logins: logins, catalogue: catalogue, transport: apple, clock: clock, random: SystemRandom(),
                logger: Logger(label: "test") { _ in log }))
        return (files, store, service)
    }

    /// The service as a new process; the old one ended without a shutdown.
    func restarted() throws -> TokenRig { try TokenRig(after: self) }

    // MARK: What apps do

    func call(_ device: String = "tv-1", requestor: String = "ACME1", client: String = "tv", address: String = "203.0.113.7") -> DeviceCall {
        DeviceCall(
            accessToken: client, requestor: requestor, deviceID: device, device: DeviceInformation(model: "Apple TV", osName: "tvOS"),
            clientAddress: address)
    }

    func issue(
        _ device: String = "tv-1", requestor: String = "ACME1", bundleID: String = "tv.acme", environment: AppleEnvironment = .production,
        authorization: ContextAuthorization = .granted, account: String = "", key: String = ""
    ) async throws -> IssuedToken {
        try await service.automaticSignIn.issueToken(
            IssueTokenRequest(
                call: call(device, requestor: requestor), accountID: account, bundleID: bundleID, environment: environment,
                contextAuthorization: authorization, idempotencyKey: key), context: context)
    }

    @discardableResult
    func confirm(_ family: String, _ outcome: StorageOutcome = .stored, device: String = "tv-1") async throws -> TokenFamily {
        try await service.automaticSignIn.confirmStored(
            ConfirmStoredRequest(call: call(device), familyID: family, outcome: outcome), context: context)
    }

    /// A person signs in on the device, allows it, and the device stores the value.
    func optIn(_ device: String = "tv-1", user: String = "ada", environment: AppleEnvironment = .production) async throws -> IssuedToken {
        logins.signIn(device, user: user)
        let token = try await issue(device, environment: environment)
        apple.store(token.value, in: environment == .sandbox ? StoreKitDouble.sandbox : StoreKitDouble.production)
        try await confirm(token.familyID, device: device)
        return token
    }

    @discardableResult
    func redeem(
        _ value: String, on device: String = "tv-2", requestor: String = "ACME1", environment: AppleEnvironment = .production,
        bundleID: String = "tv.acme", address: String = "203.0.113.7", client: String = "tv", key: String = ""
    ) async throws -> RedeemedToken {
        try await service.automaticSignIn.redeemToken(
            RedeemTokenRequest(
                call: call(device, requestor: requestor, client: client, address: address), value: value, bundleID: bundleID,
                environment: environment, idempotencyKey: key), context: context)
    }

    func rotate(_ family: String, by programmer: String = "acme", key: String = "") async throws -> Rotation {
        try await service.automaticSignIn.rotateToken(
            RotateTokenRequest(
                call: BackendCall(accessToken: "backend-\(programmer)", requestor: programmer == "bravo" ? "BRAVO" : "ACME1"),
                familyID: family, reason: "risk", idempotencyKey: key), context: context)
    }

    @discardableResult
    func revoke(_ family: String = "", value: String = "", from device: String = "tv-1") async throws -> Revocation {
        try await service.automaticSignIn.revokeToken(
            RevokeTokenRequest(caller: Caller(who: .device(call(device))), value: value, familyID: family), context: context)
    }

    func status(_ device: String = "tv-1") async throws -> OptInStatus {
        try await service.automaticSignIn.getOptInStatus(GetOptInStatusRequest(caller: Caller(who: .device(call(device)))), context: context)
    }

    func backend(_ programmer: String = "acme") -> Caller {
        Caller(who: .backend(BackendCall(accessToken: "backend-\(programmer)", requestor: programmer == "bravo" ? "BRAVO" : "ACME1")))
    }

    func state(_ family: String) async throws -> FamilyState? {
        try await files.read { try $0.family(FamilyID(family))?.state }
    }

    /// The value on the account after the last change of Apple's.
    func newestValue() -> String { apple.values().first ?? "" }

    func deliver() async throws { try await service.outbox.deliverDue() }

    func events() async throws -> [String] {
        try await service.operations.listSecurityEvents(ListSecurityEventsRequest(), context: context).events.map(\.kind)
    }
}

/// The code of the fault with which the work ends; `nil`: it does not.
func refusal<Value>(_ work: () async throws -> Value) async -> Fault.Code? {
    do {
        _ = try await work()
        return nil
    } catch {
        return (error as? Fault)?.code
    }
}

extension AutoSignIn {
    /// The value as it would go to Apple.
    func outboxValue(_ version: TokenVersionRecord) -> String? { values.open(version)?.text }
}
