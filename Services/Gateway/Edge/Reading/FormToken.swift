internal import Cryptography
internal import Hummingbird

/// What a form of a web session carries, so that no page of another site can make one: a digest of the session's secret, which only that page
/// and the cookie have.
package struct FormToken {
    package let text: String

    /// - Parameter purpose: Forms of one kind of pages are none of another's.
    package init(secret: String, purpose: String = "devices") {
        text = Base64.url.encode(SHA256.hash(Array("boxoffice-\(purpose)-form\n\(secret)".utf8)))
    }

    package func isEqual(to sent: String) -> Bool { ConstantTime.equal(text, sent) }
}

/// Whether a form was sent from a page of the gateway itself.
package enum FormOrigin {
    /// Browsers say it in `Sec-Fetch-Site`, older ones in `Origin`; a program without either is no browser that could be misled.
    package static func isOwn(_ exchange: Exchange) -> Bool {
        if let site = exchange.headers[.secFetchSite] { return site == "same-origin" }
        guard let origin = exchange.headers[.origin] else { return true }
        return exchange.facts.host.serves(origin, authority: exchange.authority)
    }
}
