/// Content security policies of the pages.
struct ContentPolicy: Sendable {
    /// Logos are wherever the MVPDs and channels keep them.
    let page: String
    /// The same, with scripts of the gateway itself.
    var scripted: String { page + "; script-src 'self'" }
    /// A page whose form may lead to an address of a requestor: `form-action` would stop that, see below.
    let leaving: String
    /// The handover to an MVPD posts to a foreign address, follows its redirects, and may be framed by a programmer's login page: Chromium
    /// applies `form-action` to redirects too, so it cannot be listed.
    let handover = "default-src 'none'; style-src 'self'; script-src 'self'; base-uri 'none'"

    /// - Parameter allowsPlainLogos: True when the gateway itself is on plain HTTP.
    init(allowsPlainLogos: Bool) {
        let images = "img-src 'self' data: https:\(allowsPlainLogos ? " http:" : "")"
        page = "default-src 'none'; style-src 'self'; \(images); form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
        leaving = "default-src 'none'; style-src 'self'; \(images); frame-ancestors 'none'; base-uri 'none'"
    }

    /// The policy with one more source of styles.
    static func allowing(_ source: String, in policy: String) -> String { policy.replacing("style-src 'self'", with: "style-src 'self' \(source)") }
}
