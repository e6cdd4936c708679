internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// The pages for people who operate the cluster: a client of the same operations as the administration API, with the same rights (dashboard §7).
struct Console: Sendable {
    static let path = KnownPaths.console
    /// Nothing comes from elsewhere, and nothing is a script.
    private static let policy =
        "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

    let dependencies: Dependencies
    /// Where administrators sign in beside their tokens; `nil`: nowhere.
    let provider: OpenIDProvider?

    var administration: any Administration { dependencies.administration }

    /// A page with what all of them show: where one is, who one is, and what has not been pushed.
    /// - Parameters:
    ///   - place: Its part of the navigation.
    ///   - title: Heading and title.
    func page(
        _ template: String, _ title: String, in place: ConsolePlace, _ content: [String: Any], for visitor: Visitor, _ exchange: Exchange,
        status: HTTPResponse.Status = .ok
    ) async -> Response {
        let shell = ConsoleShell(
            title: title, place: place, visitor: visitor, changes: await changes(of: visitor, exchange), admin: dependencies.settings.admin
        ).content
        return Self.html(dependencies.pages, template, content.merging(shell) { own, _ in own }, status: status)
    }

    /// - Returns: How much the draft changes; 0 also when nobody can tell, as the page is of more use without than not at all.
    private func changes(of visitor: Visitor, _ exchange: Exchange) async -> Int {
        guard visitor.mayEdit else { return 0 }
        let draft = try? await administration.getDraft(GetDraftRequest(token: visitor.secret), context: exchange.call)
        return draft?.changes.count ?? 0
    }

    static func html(_ pages: Pages, _ template: String, _ content: [String: Any], status: HTTPResponse.Status) -> Response {
        pages.render("console-\(template)", content, status: status, policy: policy)
    }

    /// The address of a page, each part encoded.
    static func address(_ parts: String..., query: KeyValuePairs<String, String> = [:]) -> String {
        ConsoleAddress.text(parts, query: query)
    }

    static func seeOther(_ address: String) -> Response {
        Response(status: .seeOther, headers: [.location: address, .cacheControl: "no-store"])
    }
}
