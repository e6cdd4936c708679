package import Clocks
package import Contracts
package import Faults
package import Identifiers
internal import SamlExplanation

package enum TestSignInSubject {}
package enum TestSignInTie {}

/// Trace id of a test sign-in's report: 32 hexadecimal digits.
package typealias TestSignInID = Identifier<TestSignInSubject>
/// The secret that opens a test sign-in in a browser.
package typealias TestSignInTicket = Secret<TestSignInTie>

/// A sign-in by a configuration that no version has. Its answer is checked and reported; it signs nobody in.
package struct TestSignInRecord: Hashable, Sendable {
    /// Long enough to walk to the test account.
    package static let longestPending: Duration = .seconds(10 * 60)
    package static let largestConfiguration = 65_536
    /// The same for one of a schedule.
    package static let longestScheduled: Duration = .seconds(60)
    /// Under way at a time, of all administrators.
    package static let most = 64

    package let id: TestSignInID
    package let requestor: RequestorID
    package let mvpd: MvpdID
    /// The owner of the requestor.
    package let programmer: ProgrammerID
    /// Requestor, MVPD, integration and proxy as the administrator's draft has them, encoded.
    package let configuration: [UInt8]
    package let way: SignInWay
    package let expiresAt: Timestamp
    /// True for a scheduled test: only the program that plays the browser is told how it ended.
    package var isScheduled = false
    package var stage: Stage

    package init(
        id: TestSignInID, requestor: RequestorID, mvpd: MvpdID, programmer: ProgrammerID, configuration: [UInt8], way: SignInWay,
        expiresAt: Timestamp, isScheduled: Bool = false, stage: Stage
    ) {
        (self.id, self.requestor, self.mvpd, self.programmer) = (id, requestor, mvpd, programmer)
        (self.configuration, self.way, self.expiresAt, self.isScheduled) = (configuration, way, expiresAt, isScheduled)
        self.stage = stage
    }

    /// How far it has come.
    package enum Stage: Hashable, Sendable {
        /// Nobody has opened it.
        case waiting(ticket: SecretDigest)
        /// A browser is at the MVPD.
        case open(Request)
    }

    /// The request that the MVPD has to answer.
    package struct Request: Hashable, Sendable {
        package let id: SamlRequestID
        package let relayState: SecretDigest
        package let browserSecret: SecretDigest
        /// The issuer that the request named, an audience of the answer; by OAuth the client.
        package let issuerSent: String
        package let startedAt: Timestamp
        /// As of `PendingSignIn`.
        package var callback: OAuthCallback?

        package init(
            id: SamlRequestID, relayState: SecretDigest, browserSecret: SecretDigest, issuerSent: String, startedAt: Timestamp,
            callback: OAuthCallback? = nil
        ) {
            (self.id, self.relayState, self.browserSecret, self.issuerSent) = (id, relayState, browserSecret, issuerSent)
            (self.startedAt, self.callback) = (startedAt, callback)
        }
    }
}

/// How a test sign-in ended in the store.
package enum TestSignInEnd: Hashable, Sendable {
    case ended
    /// It was answered before, or it is over.
    case notPending
    /// The assertion was used before.
    case replayed
}

/// Test sign-ins, apart from those of viewers.
package protocol TestSignInStore: Sendable {
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

/// The result of taking the turn of a scheduled sign-in.
package enum ScheduledSignInTurn: Sendable {
    /// This copy's; nobody else's before the next one is due.
    /// - Parameter before: How the one before ended; `nil`: none has.
    case mine(before: ScheduledSignInState?)
    /// Nobody's before that moment.
    /// - Parameter latest: How the latest ended that is known.
    case notYet(until: Timestamp, latest: ScheduledSignInState?)
}

/// When scheduled sign-ins are due, and how the latest ended: for all copies of the service.
package protocol ScheduledSignInStore: Sendable {
    /// Takes the turn when it is due: the next one is due then at `next`. When several calls come at a time, at most one takes it.
    /// - Parameters:
    ///   - first: When an MVPD's first one is due.
    ///   - next: From this one on; what is due later than that was planned by another schedule, and is due now.
    func takeTurn(_ mvpd: MvpdID, first: Timestamp, next: Timestamp, now: Timestamp) async throws(Fault) -> ScheduledSignInTurn

    /// Remembers how one ended.
    func keep(_ state: ScheduledSignInState, of mvpd: MvpdID) async throws(Fault)

    /// How the latest of each MVPD ended, by MVPD.
    func scheduledSignIns() async throws(Fault) -> [ScheduledSignInState]
}
