internal import Clocks
internal import Faults
internal import Identifiers
internal import SamlExplanation

enum TestSignInSubject {}
enum TestSignInTie {}

/// Trace id of a test sign-in's report: 32 hexadecimal digits.
typealias TestSignInID = Identifier<TestSignInSubject>
/// What opens a test sign-in in a browser.
typealias TestSignInTicket = Secret<TestSignInTie>

/// A sign-in by a configuration that no version has. Its answer is checked and reported; it signs nobody in.
struct TestSignInRecord: Hashable, Sendable {
    /// Long enough to walk to the test account.
    static let longestPending: Duration = .seconds(10 * 60)
    static let largestConfiguration = 65_536
    /// The same for one of a schedule.
    static let longestScheduled: Duration = .seconds(60)
    /// Under way at a time, of all administrators.
    static let most = 64

    let id: TestSignInID
    let requestor: RequestorID
    let mvpd: MvpdID
    /// Whose the requestor is.
    let programmer: ProgrammerID
    /// Requestor, MVPD, integration and proxy as the administrator's draft has them, encoded.
    let configuration: [UInt8]
    let way: SignInWay
    let expiresAt: Timestamp
    /// Of a schedule: whoever plays the browser is told how it ended, and nobody else.
    var isScheduled = false
    var stage: Stage

    /// How far it has come.
    enum Stage: Hashable, Sendable {
        /// Nobody has opened it.
        case waiting(ticket: SecretDigest)
        /// A browser is at the MVPD.
        case open(Request)
    }

    /// The request that the MVPD has to answer.
    struct Request: Hashable, Sendable {
        let id: UpstreamRequestID
        let relayState: SecretDigest
        let browserSecret: SecretDigest
        /// The issuer that the request named, an audience of the answer; by OAuth the client.
        let issuerSent: String
        let startedAt: Timestamp
        /// As of `PendingSignIn`.
        var callback: OAuthCallback?
    }
}

/// How a test sign-in ended in the store.
enum TestSignInEnd: Hashable, Sendable {
    case ended
    /// It was answered before, or it is over.
    case notPending
    /// The assertion was used before.
    case replayed
}

/// Test sign-ins, apart from those of viewers.
protocol TestSignInStore: Sendable {
    /// - Returns: False when as many as may be are under way; nothing changed. Those of a schedule take no other's place.
    func add(_ test: TestSignInRecord, now: Timestamp) async throws(Fault) -> Bool

    /// The one with that digest of its ticket, of `RelayState` or of `state`, unless it is over.
    func testSignIn(_ handle: SecretDigest, now: Timestamp) async throws(Fault) -> TestSignInRecord?

    /// Puts it at its next stage.
    /// - Parameter before: The digest that it was known by.
    /// - Returns: False when it is over, or somebody else was first; nothing changed.
    func open(_ test: TestSignInID, from before: SecretDigest, _ request: TestSignInRecord.Request, _ way: SignInWay, now: Timestamp)
        async throws(Fault)
        -> Bool

    /// Ends it without an answer, if it is there.
    func drop(_ test: TestSignInID) async throws(Fault)

    /// Consumes it, and remembers the assertion that it took, as one change.
    /// - Parameter replay: `nil`: the answer had none that counts.
    func finish(_ test: TestSignInID, _ handle: SecretDigest, _ replay: SignInCompletion.Replay?, now: Timestamp) async throws(Fault) -> TestSignInEnd
}
