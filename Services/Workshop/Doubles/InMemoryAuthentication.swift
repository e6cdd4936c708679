internal import Catalogue
public import Clocks
internal import ContractRuntime
public import Contracts
public import Faults
internal import Synchronization

/// Stands in for the authentication service: clients, codes, sessions and trials in memory; it checks no credentials.
///
/// Every bearer that is not empty is accepted, for every API and requestor of the catalogue, unless `refuse` says otherwise.
public final class InMemoryAuthentication: Sendable {
    struct Place: Hashable, Sendable {
        let device: String
        let requestor: String
    }

    /// A session that a device has.
    struct Held: Sendable {
        /// Without a client: whoever asks has it.
        var subject: SessionSubject
        /// Id of the code that it came by; empty: none.
        var code = ""
        /// The platform's identity of its user; empty: nothing was said.
        var identity = ""
    }

    enum Standing: Sendable {
        /// The newest first.
        case signedIn([Held])
        case signedOut
        case refused(Fault)
    }

    struct Code: Sendable {
        var record: RegistrationCode
        /// The id of the client that asked for it.
        let clientID: String
        /// The platform's identity of the device's user; empty: nothing was said.
        var identity = ""
        /// When a sign-in through it succeeded, milliseconds since 1970; 0: none did.
        var usedAt: UInt64 = 0
    }

    /// The owner of a session, and its origin.
    struct Owner: Sendable {
        var client = ""
        var device: DeviceInformation?
        var code = ""
        var identity = ""
    }

    /// Its statement is in the catalogue by its digest alone.
    struct ListedClient: Sendable {
        let software: String
        /// Milliseconds since 1970.
        let registeredAt: UInt64
    }

    struct PendingSignIn: Sendable {
        let code: String
        let requestor: String
        let mvpd: String
        let redirectURL: String
        let browserSecret: String
    }

    static let sessionLife: UInt64 = 30 * 24 * 3_600_000
    static let accessTokenLife: UInt32 = 21_600

    let config: InMemoryConfig
    let behaviour: DoubleBehaviour
    let clock: any WallClock
    let startedAt: UInt64
    let standings = BoundedTable<Place, Standing>(capacity: 1_000_000)
    let codes = BoundedTable<String, Code>(capacity: 1_000_000)
    /// The newest code of REST v2, by a digest of the client and its device at a requestor: another one ends it.
    let plans = BoundedTable<String, String>(capacity: 1_000_000)
    /// Where browsers go that log out at an MVPD, by the handle of their visit.
    let visits = BoundedTable<String, String>(capacity: 100_000)
    let signIns = BoundedTable<String, PendingSignIn>(capacity: 100_000)
    /// Ids of registered clients, and their applications'.
    let clients = BoundedTable<String, String>(capacity: 1_000_000)
    /// Clients by a statement that another house signed.
    let listed = BoundedTable<String, ListedClient>(capacity: 100_000)
    /// Under their references.
    let secrets = BoundedTable<OctetText, StoredSecret>(capacity: 100_000)
    let numbers = Counter()
    let trials = TrialTable()
    /// People of whom a platform said who they are have signed in here.
    let identified = BoundedTable<String, Set<Place>>(capacity: 100_000)
    let plays = Counter()
    private let found = Counter()
    private let scripted = Mutex<[String: Fault]>([:])
    private let failure = Mutex<Fault?>(nil)

    /// - Parameter config: Provides the catalogue.
    public init(config: InMemoryConfig, behaviour: DoubleBehaviour = DoubleBehaviour(), clock: any WallClock = SystemClock()) {
        self.config = config
        self.behaviour = behaviour
        self.clock = clock
        startedAt = UInt64(clamping: clock.now().milliseconds)
    }

    // MARK: Scripting

    /// The device has this session at the requestor from now on, and no other.
    public func put(_ subject: SessionSubject, device: String, requestor: String) {
        standings[Place(device: device, requestor: requestor)] = .signedIn([Held(subject: subject)])
    }

    /// The session that the device has by default, to be changed and given to `put`.
    public func subject(device: String, requestor: String) -> SessionSubject {
        derived(Place(device: device, requestor: requestor), mvpd: nil, Owner(client: Self.anybody))
    }

    /// The device has no session at the requestor from now on.
    public func remove(device: String, requestor: String) {
        standings[Place(device: device, requestor: requestor)] = .signedOut
    }

    /// Questions about the device's session are answered with the fault from now on.
    public func fail(device: String, requestor: String, with fault: Fault) {
        standings[Place(device: device, requestor: requestor)] = .refused(fault)
    }

    /// Calls with the bearer are answered with the fault from now on.
    public func refuse(bearer: String, with fault: Fault) {
        scripted.withLock { $0[bearer] = fault }
    }

    /// Every call is answered with the fault until it is set to `nil`.
    public func fail(with fault: Fault?) {
        failure.withLock { $0 = fault }
    }

    /// Callers asked for a device's session this often.
    public var sessionQuestions: UInt64 { found.count }

    /// Callers counted a play of a TempPass this often, refused ones included.
    public var tempPassPlays: UInt64 { plays.count }

    func countQuestion() { _ = found.next() }

    // MARK: What the operations share

    var now: UInt64 { UInt64(clamping: clock.now().milliseconds) }

    func requireWorking() throws(Fault) {
        if let fault = failure.withLock({ $0 }) { throw fault }
    }

    /// - Throws: `access_denied` for an empty bearer; what was scripted for it.
    func requireBearer(_ bearer: String) throws(Fault) {
        try requireWorking()
        guard !bearer.isEmpty else { throw Fault(.accessDenied, "The access token is absent.") }
        if let fault = scripted.withLock({ $0[bearer] }) { throw fault }
        try requireListed(clientID(bearer))
    }

    /// - Throws: `invalid_client` for one that registered by a statement that is not listed, or was another programmer's then.
    func requireListed(_ client: String) throws(Fault) {
        guard let listed = listed[client] else { return }
        let moment = Int64(clamping: listed.registeredAt)
        guard config.catalogue.application(softwareID: listed.software, registeredAtMilliseconds: moment) != nil else {
            throw Fault(.invalidClient, "The client's software statement is no longer accepted.")
        }
    }

    /// The rights of a client that registered here in REST v2; other bearers may do all.
    /// - Throws: `access_denied` without its scope, `invalid_requestor`, `insufficient_scope` for another application's.
    func requireCovered(_ requestor: String, by bearer: String) throws(Fault) -> Requestor {
        let application = clients[clientID(bearer)].flatMap { config.catalogue.application($0) }
        guard application?.scopes.contains("api:client:v2") ?? true else { throw Fault(.accessDenied, "The access token is not for this call.") }
        let requestor = try config.catalogue.requireRequestor(requestor)
        guard application?.requestorIDs.contains(requestor.id) ?? true else {
            throw Fault(.insufficientScope, "The application may not act for the requestor.")
        }
        return requestor
    }

    /// The checks of every device call.
    @discardableResult
    func requireDevice(_ call: DeviceCall?) throws(Fault) -> (call: DeviceCall, requestor: Requestor) {
        let call = call ?? DeviceCall()
        // The double checks no credentials: it accepts a signature like a bearer token.
        let isV2 = call.api == .v2
        try requireBearer(call.accessToken.isEmpty && !isV2 ? call.signedRequest?.header ?? "" : call.accessToken)
        let requestor = try isV2 ? requireCovered(call.requestor, by: call.accessToken) : config.catalogue.requireRequestor(call.requestor)
        guard !call.deviceID.isEmpty else { throw Fault(.invalidDeviceID, "Required 'deviceId' is not present") }
        return (call, requestor)
    }

    /// - Throws: `authentication_session_missing`, or what was scripted.
    func subject(of call: DeviceCall?) throws(Fault) -> SessionSubject {
        countQuestion()
        if let call, let stored = call.storedToken { return try subject(stored, of: call) }
        let (call, _) = try requireDevice(call)
        return try subject(at: Place(device: call.deviceID, requestor: call.requestor), call: call)
    }

    /// The newest session that is valid, whoever made it.
    func subject(at place: Place, call: DeviceCall?) throws(Fault) -> SessionSubject {
        let held = try held(at: place)
        guard !held.isEmpty else { throw Self.nobody }
        guard var subject = held.first(where: { isValid($0.subject) })?.subject else {
            throw Fault(.authenticationSessionExpired, "Authentication token expired")
        }
        if subject.clientID.isEmpty { subject.clientID = call.map { clientID($0.accessToken) } ?? Self.anybody }
        return subject
    }

    /// The device's sessions, the newest first.
    /// - Throws: The scripted error.
    func held(at place: Place) throws(Fault) -> [Held] {
        switch standings[place] {
        case .signedIn(let held): return held.filter { isOfThisLife($0.subject) }
        case .refused(let fault): throw fault
        case .signedOut: return []
        case nil: return untold(place)
        }
    }

    /// Made since the requestor's id, and the MVPD's, are of who has them now (config.proto, Requestor.since_ms).
    func isOfThisLife(_ subject: SessionSubject) -> Bool {
        guard let session = subject.session else { return true }
        return session.createdAtMilliseconds >= life(session.requestor, session.mvpd)
    }

    /// When it began, milliseconds since 1970.
    func life(_ requestor: String, _ mvpd: String = "") -> UInt64 {
        let catalogue = config.catalogue
        return max(catalogue.requestor(requestor)?.sinceMilliseconds ?? 0, catalogue.mvpd(mvpd)?.sinceMilliseconds ?? 0)
    }

    /// The device's sessions that nobody was told of yet.
    func untold(_ place: Place) -> [Held] {
        behaviour.signedIn == .everyDevice ? [Held(subject: derived(place, mvpd: nil, Owner()))] : []
    }

    /// Not over, and not without the rule that made it.
    func isValid(_ subject: SessionSubject) -> Bool {
        guard let session = subject.session, session.expiresAtMilliseconds > now else { return false }
        guard session.kind == .degraded else { return true }
        return rule(session.requestor, session.mvpd, subject.device) != nil
    }

    /// The AuthN-all rule that holds.
    func rule(_ requestor: String, _ mvpd: String, _ device: DeviceInformation?) -> DegradationRule? {
        config.catalogue.degradation(requestor: requestor, mvpd: mvpd, platform: device?.platform, resource: nil, now: clock.now())
    }

    /// Makes the session of a sign-in; it takes the place of what the client's device had at the MVPD.
    @discardableResult
    func signIn(_ place: Place, mvpd: String, kind: SessionKind, _ owner: Owner, user: String? = nil, lifetime: UInt64 = sessionLife)
        -> SessionSubject
    {
        var subject = derived(place, mvpd: mvpd, owner)
        let moment = now
        subject.session?.id = DerivedIdentity.uuid("session", place.device, place.requestor, "\(numbers.next())")
        subject.session?.createdAtMilliseconds = moment
        subject.session?.expiresAtMilliseconds = moment + lifetime
        subject.session?.kind = kind
        if let user {
            subject.session?.userID = user
            subject.attributes = [UserAttribute(key: "userID", values: [user])]
        }
        let held = Held(subject: subject, code: owner.code, identity: owner.identity)
        standings.change(place) { standing in
            var all: [Held] =
                switch standing {
                case .signedIn(let held): held
                case nil: untold(place)
                case .signedOut, .refused: []
                }
            all.removeAll { $0.subject.session?.mvpd == mvpd && ($0.subject.clientID.isEmpty || $0.subject.clientID == owner.client) }
            standing = .signedIn([held] + all.prefix(Self.mostSessions - 1))
        }
        if !owner.identity.isEmpty { identified.change(owner.identity) { $0 = ($0 ?? []).union([place]) } }
        return subject
    }

    func derived(_ place: Place, mvpd: String?, _ owner: Owner) -> SessionSubject {
        let mvpd = mvpd ?? behaviour.mvpd ?? defaultMvpd(place.requestor)
        let user = behaviour.user ?? "user-" + DerivedIdentity.digest("person", place.device).prefix(12)
        let id = DerivedIdentity.uuid("session", place.device, place.requestor)
        let session = Session(
            id: id, requestor: place.requestor, mvpd: mvpd, userID: DerivedIdentity.digest("user", user, mvpd), createdAtMilliseconds: startedAt,
            expiresAtMilliseconds: startedAt + Self.sessionLife)
        let attributes = [UserAttribute(key: "userID", values: [user]), UserAttribute(key: "householdID", values: ["household-of-\(user)"])]
        return SessionSubject(
            session: session, upstreamUserID: user, attributes: attributes, clientID: owner.client, deviceID: place.device, device: owner.device,
            upstreamSessionID: id)
    }

    /// The first MVPD of the requestor at which people have a login.
    func defaultMvpd(_ requestor: String) -> String {
        let mvpds = config.catalogue.activeIntegrations(requestor: requestor).map(\.mvpd)
        let login = mvpds.first { mvpd in
            if case .tempPass = mvpd.signIn { return false }
            return mvpd.signIn != nil
        }
        return (login ?? mvpds.first)?.id ?? ""
    }

    /// An access token of the double names its client.
    func clientID(_ bearer: String) -> String {
        bearer.hasPrefix("double-") ? String(bearer.dropFirst("double-".count)) : Self.anybody
    }

    /// The client of every other access token.
    static let anybody = "double-client"
    /// The limit of sessions of a device at a requestor.
    private static let mostSessions = 64

    static let nobody = Fault(.authenticationSessionMissing, "User not authenticated")

    /// The application of the bearer's client, else the first that may act for the requestor.
    func application(_ bearer: String, requestor: String) -> Application {
        let catalogue = config.catalogue
        if let known = clients[clientID(bearer)].flatMap({ catalogue.application($0) }) { return known }
        let all = catalogue.configuration.applications
        return all.first { requestor.isEmpty || $0.requestorIDs.contains(requestor) } ?? all.first ?? Application()
    }
}
