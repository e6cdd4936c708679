internal import Catalogue
public import Clocks
internal import ContractRuntime
public import Contracts
public import Faults
internal import Synchronization

/// Stands in for the authentication service: clients, codes and sessions in memory; it checks no credentials.
///
/// Every bearer that is not empty is accepted, for every requestor of the catalogue, unless `refuse` says otherwise.
public final class InMemoryAuthentication: Sendable {
    struct Place: Hashable, Sendable {
        let device: String
        let requestor: String
    }

    enum Standing: Sendable {
        case signedIn(SessionSubject)
        case signedOut
        case refused(Fault)
    }

    struct Code: Sendable {
        var record: RegistrationCode
        /// Of the client that asked for it.
        let clientID: String
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
    let signIns = BoundedTable<String, PendingSignIn>(capacity: 100_000)
    /// Ids of registered clients, and their applications'.
    let clients = BoundedTable<String, String>(capacity: 1_000_000)
    /// Under their references.
    let secrets = BoundedTable<OctetText, StoredSecret>(capacity: 100_000)
    let numbers = Counter()
    let trials = Counter()
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

    /// The device has this session at the requestor from now on.
    public func put(_ subject: SessionSubject, device: String, requestor: String) {
        standings[Place(device: device, requestor: requestor)] = .signedIn(subject)
    }

    /// The session that the device has by default, to be changed and given to `put`.
    public func subject(device: String, requestor: String) -> SessionSubject {
        derived(Place(device: device, requestor: requestor), mvpd: nil, call: nil)
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

    /// How often callers asked for a device's session.
    public var sessionQuestions: UInt64 { found.count }

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
    }

    /// The checks of every device call.
    @discardableResult
    func requireDevice(_ call: DeviceCall?) throws(Fault) -> (call: DeviceCall, requestor: Requestor) {
        let call = call ?? DeviceCall()
        // The double checks no credentials: it accepts a signature like a bearer token.
        try requireBearer(call.accessToken.isEmpty ? call.signedRequest?.header ?? "" : call.accessToken)
        let requestor = try config.catalogue.requireRequestor(call.requestor)
        guard !call.deviceID.isEmpty else { throw Fault(.invalidDeviceID, "Required 'deviceId' is not present") }
        return (call, requestor)
    }

    /// - Throws: `authentication_session_missing`, or what was scripted.
    func subject(of call: DeviceCall?) throws(Fault) -> SessionSubject {
        _ = found.next()
        if let call, let stored = call.storedToken { return try subject(stored, of: call) }
        let (call, _) = try requireDevice(call)
        return try subject(at: Place(device: call.deviceID, requestor: call.requestor), call: call)
    }

    func subject(at place: Place, call: DeviceCall?) throws(Fault) -> SessionSubject {
        switch standings[place] {
        case .signedIn(var subject):
            if subject.clientID.isEmpty, let call { subject.clientID = clientID(call.accessToken) }
            guard let session = subject.session, session.expiresAtMilliseconds > now else {
                throw Fault(.authenticationSessionExpired, "Authentication token expired")
            }
            return subject
        case .refused(let fault): throw fault
        case .signedOut: break
        case nil: if behaviour.signedIn == .everyDevice { return derived(place, mvpd: nil, call: call) }
        }
        throw Fault(.authenticationSessionMissing, "User not authenticated")
    }

    /// Makes the session of a sign-in; it takes the place of what the device had.
    @discardableResult
    func signIn(_ place: Place, mvpd: String, kind: SessionKind, call: DeviceCall? = nil, lifetime: UInt64 = sessionLife) -> SessionSubject {
        var subject = derived(place, mvpd: mvpd, call: call)
        let moment = now
        subject.session?.id = DerivedIdentity.uuid("session", place.device, place.requestor, "\(numbers.next())")
        subject.session?.createdAtMilliseconds = moment
        subject.session?.expiresAtMilliseconds = moment + lifetime
        subject.session?.kind = kind
        standings[place] = .signedIn(subject)
        return subject
    }

    func derived(_ place: Place, mvpd: String?, call: DeviceCall?) -> SessionSubject {
        let mvpd = mvpd ?? behaviour.mvpd ?? defaultMvpd(place.requestor)
        let user = behaviour.user ?? "user-" + DerivedIdentity.digest("person", place.device).prefix(12)
        let id = DerivedIdentity.uuid("session", place.device, place.requestor)
        let session = Session(
            id: id, requestor: place.requestor, mvpd: mvpd, userID: DerivedIdentity.digest("user", user, mvpd), createdAtMilliseconds: startedAt,
            expiresAtMilliseconds: startedAt + Self.sessionLife)
        return SessionSubject(
            session: session, upstreamUserID: user, attributes: [UserAttribute(key: "userID", values: [user])],
            clientID: call.map { clientID($0.accessToken) } ?? "double-client", deviceID: place.device, device: call?.device, upstreamSessionID: id)
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
        bearer.hasPrefix("double-") ? String(bearer.dropFirst("double-".count)) : "double-client"
    }

    /// The application of the bearer's client, else the first that may act for the requestor.
    func application(_ bearer: String, requestor: String) -> Application {
        let catalogue = config.catalogue
        if let known = clients[clientID(bearer)].flatMap({ catalogue.application($0) }) { return known }
        let all = catalogue.configuration.applications
        return all.first { requestor.isEmpty || $0.requestorIDs.contains(requestor) } ?? all.first ?? Application()
    }
}
