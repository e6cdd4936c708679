internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// The pages of the console (dashboard §7); none where the folder of pages has none.
enum ConsoleRoutes {
    static func all(_ console: Console) -> [Route] {
        guard console.dependencies.pages.hasConsole else { return [] }
        let access = ConsoleAccess(console: console)
        return session(console, access) + ConsoleCollection.allCases.flatMap { entries($0, console, access) } + draft(console, access)
            + operations(console, access) + reports(console, access)
    }

    private static func session(_ console: Console, _ access: ConsoleAccess) -> [Route] {
        let (pages, sessions) = (ConsoleSignInPages(console: console), SessionsPage(console: console))
        let pagesOfFiles = console.dependencies.pages
        let provider = console.provider.map { ProviderSignInPages(console: console, provider: $0) }
        let there = provider.map { [route(ProviderSignInPages.startPath, act: $0.start), route(ProviderSignInPages.returnPath, act: $0.finish)] }
        return (there ?? []) + [
            route(ConsoleSignInPages.path, read: pages.show, write: pages.signIn, body: .largeForm),
            route(ConsoleSignInPages.resumePath, write: pages.resume, body: .largeForm),
            route(Console.path + "/sign-out", write: access.signedIn(pages.signOut)),
            route(ConsolePlace.sessions.address, read: access.signedIn(sessions.show)),
            route(ConsolePlace.sessions.address + "/end", write: access.signedIn(sessions.end)),
            route(Console.path + "/assets/{file}", read: { try pagesOfFiles.asset($0) }),
        ]
    }

    private static func entries(_ collection: ConsoleCollection, _ console: Console, _ access: ConsoleAccess) -> [Route] {
        let list = EntryListPages(console: console, collection: collection)
        let pages = EntryPages(console: console, collection: collection)
        let editing = EntryEditing(console: console, collection: collection)
        let creation = EntryCreation(console: console, collection: collection)
        let (path, entry) = (collection.place.address, collection.entryPath)
        let access = collection.isForOperators ? access.forOperators : access
        var routes = [
            route(path, read: access.signedIn(list.show)),
            route(creation.path, read: access.signedIn(creation.show), write: access.signedIn(creation.create), body: .largeForm),
            route(entry, read: access.signedIn(pages.show)),
            route(entry + "/edit", read: access.signedIn(editing.edit), write: access.signedIn(editing.save), body: .largeForm),
            route(entry + "/json", read: access.signedIn(editing.editJson), write: access.signedIn(editing.saveJson), body: .largeForm),
            route(entry + "/delete", write: access.signedIn(pages.delete)),
        ]
        if collection == .integrations {
            let platforms = PlatformPages(console: console)
            routes.append(route(entry + "/switch", write: access.signedIn(pages.toggle)))
            routes.append(route(PlatformPages.path, read: access.signedIn(platforms.edit), write: access.signedIn(platforms.save)))
        }
        return collection == .upstreams ? routes + upstreams(entry, console, access) : routes
    }

    private static func upstreams(_ entry: String, _ console: Console, _ access: ConsoleAccess) -> [Route] {
        let (check, reset) = (UpstreamCheckPages(console: console), UpstreamResetPages(console: console))
        return [
            route("\(entry)/\(UpstreamCheckPages.page)", read: access.signedIn(check.show), write: access.signedIn(check.walk), body: .largeForm),
            route("\(entry)/\(UpstreamOfferPages.page)", read: access.signedIn(UpstreamOfferPages(console: console).show)),
            route("\(entry)/\(UpstreamResetPages.page)", read: access.signedIn(reset.show), write: access.signedIn(reset.reset)),
        ]
    }

    private static func draft(_ console: Console, _ access: ConsoleAccess) -> [Route] {
        let (draft, history) = (DraftPages(console: console), HistoryPages(console: console))
        let promote = PromotePages(console: console)
        let tests = TestSignInPages(console: console)
        let (path, past) = (ConsolePlace.draft.address, ConsolePlace.history.address)
        return [
            route(PromotePages.path, read: access.signedIn(promote.show), write: access.signedIn(promote.promote), body: .largeForm),
            route(TestSignInPages.path, read: access.signedIn(tests.choose), write: access.signedIn(tests.begin)),
            route(TestSignInPages.path + "/{id}", read: access.signedIn(tests.watch)),
            route(past + "/{version}/catalogue", read: access.signedIn(promote.export)),
            route(path, read: access.signedIn(draft.show)),
            route(path + "/push", write: access.signedIn(draft.push)),
            route(path + "/drop", write: access.signedIn(draft.drop)),
            route(path + "/dismiss", write: access.signedIn(draft.dismiss)),
            route(past, read: access.signedIn(history.list)),
            route(past + "/compare", read: access.signedIn(history.compare)),
            route(past + "/decide", write: access.signedIn(history.decide)),
            route(past + "/{version}", read: access.signedIn(history.show)),
            route(past + "/{version}/restore", write: access.signedIn(history.restore)),
            route(AuditLogPage.path, read: access.signedIn(AuditLogPage(console: console).show)),
        ]
    }

    private static func operations(_ console: Console, _ access: ConsoleAccess) -> [Route] {
        let (signIns, degradation) = (SignInPages(console: console), DegradationPages(console: console))
        let (connect, support) = (ConnectPages(console: console), SupportPages(console: console))
        let (reports, rules) = (ConsolePlace.signIns.address, ConsolePlace.degradation.address)
        return [
            route(Console.path, read: access.signedIn(HomePage(console: console).show)),
            route(ConnectPages.path, read: access.signedIn(connect.show), write: access.signedIn(connect.review), body: .largeForm),
            route(ConnectPages.path + "/take", write: access.signedIn(connect.take), body: .largeForm),
            route(ConsolePlace.support.address, read: access.signedIn(support.show), write: access.signedIn(support.find)),
            route(ConsolePlace.support.address + "/end", write: access.signedIn(support.end)),
            route(reports, read: access.signedIn(signIns.list)),
            route(SignInWatch.path, read: access.signedIn(SignInWatch(console: console).show)),
            route(reports + "/{trace}", read: access.signedIn(signIns.show)),
            route(rules, read: access.signedIn(degradation.list)),
            route(rules + "/new", read: access.signedIn(degradation.form), write: access.signedIn(degradation.start)),
            route(rules + "/end", write: access.signedIn(degradation.end)),
        ]
    }

    private static func reports(_ console: Console, _ access: ConsoleAccess) -> [Route] {
        let (usage, trials) = (UsagePages(console: console), TempPassPages(console: console))
        return [
            route(ConsolePlace.usage.address, read: access.signedIn(usage.show)),
            route(Console.path + "/reports/{report}", read: access.signedIn(ReportPages(console: console).show)),
            route(ConsolePlace.tempPass.address, read: access.signedIn(trials.show), write: access.signedIn(trials.reset)),
        ]
    }

    /// GET begins or ends something.
    private static func route(_ path: String, act: @escaping Route.Handler) -> Route { Route(path, .console, actsOnGet: true, [.get: act]) }

    private static func route(
        _ path: String, read: Route.Handler? = nil, write: Route.Handler? = nil, body: Route.BodyRule = .form
    ) -> Route {
        var handlers = read.map(Route.readable) ?? [:]
        if let write { handlers[.post] = write }
        return Route(path, .console, body: write == nil ? .ignored : body, handlers)
    }
}

/// The pages for people who operate the cluster: a client of the same operations as the administration API, with the same rights (dashboard §7).
struct Console: Sendable {
    static let path = KnownPaths.console
    /// Nothing comes from elsewhere, and nothing is a script.
    private static let policy =
        "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

    let dependencies: Dependencies
    /// Administrators sign in beside their tokens here; `nil`: nowhere.
    let provider: OpenIDProvider?

    var administration: any Administration { dependencies.administration }

    /// A page with what all of them show: where one is, who one is, and what has not been pushed.
    /// - Parameters:
    ///   - place: Its part of the navigation.
    ///   - title: The heading.
    ///   - windowTitle: The title of the window where it says more, as the id of an entry whose name others may have; `nil`: the heading.
    func page(
        _ template: String, _ title: String, window windowTitle: String? = nil, in place: ConsolePlace, _ content: [String: Any],
        for visitor: Visitor, _ exchange: Exchange, status: HTTPResponse.Status = .ok
    ) async -> Response {
        let shell = ConsoleShell(
            title: title, windowTitle: windowTitle, place: place, visitor: visitor, changes: await changes(of: visitor, exchange),
            admin: dependencies.settings.admin
        ).content
        var content = content.merging(shell) { own, _ in own }
        if let named = IdChoices.named[template] {
            content.merge(await IdChoices(console: self).content(named, for: visitor, exchange)) { own, _ in own }
        }
        return Self.html(dependencies.pages, template, content, status: status)
    }

    /// - Returns: The number of the draft's changes; 0 also when nobody can tell, as the page is of more use without than not at all.
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
