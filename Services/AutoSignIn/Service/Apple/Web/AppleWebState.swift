internal import Clocks
internal import Cryptography
internal import Identifiers
internal import Storage

enum AppleStateSubject {}
enum AppleBrowserSubject {}

/// `state` of a web sign-in: comes back unchanged (apple §2.1).
typealias AppleState = Secret<AppleStateSubject>
/// Value of the cookie that ties Apple's answer to the browser that asked.
typealias AppleBrowser = Secret<AppleBrowserSubject>

extension AppleState {
    /// What the request has as `nonce`: follows from the state, which nobody else knows.
    var nonce: String { Base64.url.encode(SHA256.hash("nonce " + text)) }
}

extension AppleBrowser {
    /// Who may use what was given out to this browser.
    var holder: String { "browser " + Hex.encode(digest.bytes) }
}

/// A web sign-in that is under way: for one use, in one browser, for 10 minutes.
struct AppleWebState: Hashable, Sendable {
    static let lifetime: Duration = .seconds(600)

    let state: Digest
    let browser: Digest
    let requestor: RequestorID
    let client: AppleClientID
    let returnURL: String
}

extension Database {
    func insert(_ state: AppleWebState, until: Timestamp) throws {
        try run(
            "INSERT INTO apple_web_state (digest, browser, requestor, client_id, return_url, expires_at_ms) VALUES (?, ?, ?, ?, ?, ?)",
            [state.state, state.browser, state.requestor, state.client, state.returnURL, until])
    }

    /// Uses the state up; what another browser sends leaves it alone.
    func takeWebState(_ state: Digest, browser: Digest, now: Timestamp) throws -> AppleWebState? {
        let take: Statement = """
            DELETE FROM apple_web_state WHERE digest = ? AND browser = ? AND expires_at_ms > ?
            RETURNING digest, browser, requestor, client_id, return_url
            """
        return try first(take, [state, browser, now]) { columns in
            AppleWebState(
                state: columns.next(), browser: columns.next(), requestor: columns.next(), client: columns.next(), returnURL: columns.next())
        }
    }
}
