internal import Hummingbird

/// Whether a form was sent from a page of the gateway itself.
enum FormOrigin {
    /// Browsers say it in `Sec-Fetch-Site`, older ones in `Origin`; a program without either is no browser that could be misled.
    static func isOwn(_ exchange: Exchange) -> Bool {
        if let site = exchange.headers[.secFetchSite] { return site == "same-origin" }
        guard let origin = exchange.headers[.origin] else { return true }
        return exchange.facts.host.serves(origin, authority: exchange.authority)
    }
}
