package import Clocks
package import Contracts
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

    /// It has come this far.
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

/// A test sign-in ended in one of these ways in the store.
package enum TestSignInEnd: Hashable, Sendable {
    case ended
    /// It was answered before, or it is over.
    case notPending
    /// The assertion was used before.
    case replayed
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
