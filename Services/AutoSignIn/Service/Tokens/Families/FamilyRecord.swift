internal import Clocks
internal import Contracts
internal import Identifiers

/// The tokens of one opt-in (apple §4).
struct FamilyRecord: Hashable, Sendable {
    let id: FamilyID
    let account: AccountID
    let programmer: ProgrammerID
    let bundleID: AppleClientID
    let environment: AppleEnvironment
    var state: FamilyState
    /// The Apple link behind the session that opted in; `nil`: none.
    var link: AppleLinkID?
    /// Which device opted in.
    let device: DeviceID
    let deviceLabel: String
    let createdAt: Timestamp
    /// To the hour; `nil`: no device has redeemed.
    var lastUsedAt: Timestamp?
    /// Unused until then it ends by itself; `nil` once it is revoked.
    var idleAt: Timestamp?
    var revokedAt: Timestamp?
    var reason = ""

    /// Pending ones end after 30 days, others 180 days after their last use (apple §4).
    static let pendingLimit: Duration = .seconds(30 * 86_400)
    static let idleLimit: Duration = .seconds(180 * 86_400)
    /// How exactly uses are noted.
    static let useInterval: Duration = .seconds(3600)
    /// Revoked rows are kept so long.
    static let memory: Duration = .seconds(400 * 86_400)

    var isOver: Bool { state == .revoked || state == .absent }
}

/// One value that a family has or had.
struct TokenVersionRecord: Hashable, Sendable {
    let id: TokenID
    let family: FamilyID
    /// From 1.
    let number: Int
    let comparison: Digest
    /// `nil` once it is of no use for a call to Apple.
    var sealed: SealedBytes?
    var state: TokenVersionState
    let createdAt: Timestamp
    var activatedAt: Timestamp?
    var supersededAt: Timestamp?

    /// An active one is replaced at this age (apple §1.2).
    static let rotationAge: Duration = .seconds(90 * 86_400)
    /// How long a superseded one is accepted.
    static let grace: Duration = .seconds(72 * 3600)
}

enum TokenVersionState: Int, Hashable, Sendable {
    /// Made, but neither Apple nor a device has shown yet that it is on the account.
    case pending = 1
    case active
    /// A newer one is on the account; accepted for 72 hours more.
    case superseded
    case revoked
    /// Apple never took it.
    case dropped
}
