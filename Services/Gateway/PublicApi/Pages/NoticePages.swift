internal import Catalogue
internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import NIOCore

/// Pages that only say what happened, in the look of the channel that the request is about.
struct NoticePages: Sendable {
    let pages: Pages
    let catalogue: any CatalogueSource

    /// - Parameters:
    ///   - trace: The id that a person quotes to support; `nil`: that of the request.
    ///   - requestor: The channel; empty: the one that the request names, or for which this browser began a sign-in.
    ///   - code: The error code of the API, for support; `nil`: there is none.
    ///   - status: Where it is not the notice's own.
    func page(
        _ notice: Pages.Notice, trace: String? = nil, requestor: String = "", code: String? = nil, status: HTTPResponse.Status? = nil,
        _ exchange: Exchange
    ) -> Response {
        let pending = Self.isOfSignIn(exchange) ? PendingActivation(exchange) : nil
        // A sign-in that failed can be tried again where it began at our own pages.
        let choice = notice == .signInRefused ? pending?.choice : nil
        let named = requestor.isEmpty ? exchange.namedRequestor ?? pending?.requestor ?? "" : requestor
        let look = named.isEmpty ? nil : (try? catalogue.current())?.requestor(named).map { ChannelLook($0).page }
        return pages.message(
            notice, trace: trace ?? exchange.facts.trace.traceID, for: pages.reader(exchange), look: look, choice: choice, code: code, status: status)
    }

    /// The addresses of a sign-in that this browser has begun, which name no channel.
    private static let signIns = [ActivationPages.path + "/", "/sp/saml/SAMLAssertionConsumer", KnownPaths.oauthCallback, "/bridge/return/"]

    private static func isOfSignIn(_ exchange: Exchange) -> Bool { signIns.contains { exchange.facts.path.hasPrefix($0) } }

    /// Too many attempts.
    /// - Parameter seconds: Until the next one is looked at.
    func pause(seconds: Int, _ exchange: Exchange) -> Response {
        var response = page(.tooManyAttempts, exchange)
        response.headers[.retryAfter] = String(seconds)
        return response
    }
}

extension Dependencies {
    var notices: NoticePages { NoticePages(pages: pages, catalogue: catalogue) }
}

/// Requests with which a person's browser loads a page of its own.
enum PageNavigation {
    /// True where a browser navigates (Fetch Metadata §2.3), or the caller prefers HTML to the formats of the API. An element of another page, such as
    /// a frame, is none: pages of ours are not shown there.
    static func isOne(_ exchange: Exchange) -> Bool {
        guard !SignInEndpoints.isEmbedded(exchange) else { return false }
        return exchange.headers.value(.secFetchMode) == "navigate" || prefersHTML(exchange.headers[values: .accept].joined(separator: ","))
    }

    /// The part of `Accept` that is read, in octets.
    private static let longestField = 1024

    private static func prefersHTML(_ accept: String) -> Bool {
        guard accept.utf8.count <= longestField, accept.utf8.firstRange(of: "text/html".utf8) != nil else { return false }
        var (html, others) = (0.0, 0.0)
        for entry in accept.lowercased().split(separator: ",") {
            let parts = entry.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            switch parts.first {
            case "text/html": html = max(html, quality)
            case "application/json", "text/json", "application/xml", "text/xml": others = max(others, quality)
            default: break
            }
        }
        return html > 0 && html >= others
    }
}
