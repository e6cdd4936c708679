package import GatewayEdge
internal import Hummingbird

/// Everything that administrators' programs may ask for.
enum AdministrationRoutes {
    static func all(_ dependencies: Dependencies) -> [Route] { api(dependencies) + control(dependencies) + usage(dependencies) }

    /// The administration API (dashboard §5).
    private static func api(_ dependencies: Dependencies) -> [Route] {
        EntityCollection.allCases.flatMap { entities($0, dependencies) } + drafts(dependencies) + history(dependencies) + operations(dependencies)
    }

    private static func entities(_ collection: EntityCollection, _ dependencies: Dependencies) -> [Route] {
        let conditions = collection == .upstreams ? UpstreamConditions(operations: dependencies.operations) : nil
        let entities = EntityEndpoints(administration: dependencies.administration, collection: collection, conditions: conditions)
        var routes = [
            route(collection.path, [.get: entities.list, .post: entities.create]),
            route(collection.entryPath, [.get: entities.show, .put: entities.replace, .delete: entities.delete]),
        ]
        if collection == .programmers || collection == .requestors {
            routes.append(route(collection.entryPath + "/custom-schemes", [.post: entities.generateScheme]))
        }
        if collection == .mvpds { routes.append(route(collection.entryPath + "/metadata", [.post: entities.readMetadata])) }
        return routes
    }

    private static func drafts(_ dependencies: Dependencies) -> [Route] {
        let drafts = DraftEndpoints(administration: dependencies.administration, operations: dependencies.operations)
        let pushes = PushEndpoints(administration: dependencies.administration, operations: dependencies.operations)
        let versions = VersionEndpoints(administration: dependencies.administration)
        let tests = TestSignInEndpoints(
            controller: TestSignInController(
                administration: dependencies.administration, operations: dependencies.operations, origin: dependencies.settings.originOfSignIns))
        return [
            route("/admin/v1/draft", [.get: drafts.show, .delete: drafts.discard]),
            route("/admin/v1/draft/changes/{change}", [.delete: drafts.drop]),
            route("/admin/v1/draft/push", [.post: drafts.push]),
            route(TestSignInEndpoints.path, [.post: tests.begin]),
            route("/admin/v1/draft/promote", [.post: drafts.promote]),
            route(PushEndpoints.path, [.get: pushes.list]),
            route("/admin/v1/pushes/{push}/approve", [.post: pushes.approve]),
            route("/admin/v1/pushes/{push}/decline", [.post: pushes.decline]),
            route("/admin/v1/versions", [.get: versions.list]),
            route("/admin/v1/versions/compare", [.get: versions.compare]),
            route("/admin/v1/versions/{version}", [.get: versions.show]),
            route("/admin/v1/versions/{version}/restore", [.post: versions.restore]),
        ]
    }

    private static func history(_ dependencies: Dependencies) -> [Route] {
        let history = HistoryEndpoints(administration: dependencies.administration)
        let reports = ReportEndpoints(administration: dependencies.administration)
        return [
            route("/admin/v1/administrator", [.get: history.administrator]),
            route("/admin/v1/audit", [.get: history.audit]),
            route("/admin/v1/history/verification", [.get: history.verify]),
            route("/admin/v1/reports/{report}", [.get: reports.show]),
        ]
    }

    private static func operations(_ dependencies: Dependencies) -> [Route] {
        let applications = ApplicationEndpoints(administration: dependencies.administration)
        let degradation = DegradationEndpoints(administration: dependencies.administration)
        let operations = OperationEndpoints(administration: dependencies.administration, operations: dependencies.operations)
        let signIns = SignInReportEndpoints(
            administration: dependencies.administration, operations: dependencies.operations, catalogue: dependencies.catalogue)
        let scheduled = ScheduledSignInEndpoints(
            administration: dependencies.administration,
            reader: SignInReader(operations: dependencies.operations, catalogue: dependencies.catalogue))
        let secrets = SecretEndpoints(administration: dependencies.administration, operations: dependencies.operations)
        let upstreams = UpstreamEndpoints(
            controller: UpstreamController(administration: dependencies.administration, operations: dependencies.operations))
        let support = SupportEndpoints(
            controller: SupportController(
                administration: dependencies.administration, operations: dependencies.operations, authorization: dependencies.authorization))
        let people = PeopleEndpoints(
            controller: PeopleController(
                administration: dependencies.administration, authentication: dependencies.operations, authorization: dependencies.authorization,
                autoSignIn: dependencies.autoSignInOperations))
        return [
            route(PeopleEndpoints.path + "/export", [.post: people.export]),
            route(PeopleEndpoints.path + "/erase", [.post: people.erase]),
            route(SecretEndpoints.path, [.get: secrets.list]),
            route(SecretEndpoints.path + "/{reference}", [.post: secrets.write]),
            route(SecretEndpoints.path + "/{reference}/owner", [.put: secrets.setOwner]),
            route(SignInReportEndpoints.path, [.get: signIns.list]),
            route(SignInReportEndpoints.path + "/{trace}", [.get: signIns.show]),
            route(ScheduledSignInEndpoints.path, [.get: scheduled.list]),
            route("/admin/v1/saml/explanation", [.post: signIns.explain]),
            route("/admin/v1/applications/{id}/statement", actsOnGet: true, [.get: applications.statement]),
            route("/admin/v1/applications/{id}/revoke", [.post: applications.revoke]),
            route(DegradationEndpoints.path, [.get: degradation.list, .post: degradation.start]),
            route(DegradationEndpoints.path + "/{rule}", [.put: degradation.renew, .delete: degradation.end]),
            route("/admin/v1/temp-pass/reset", [.post: operations.resetTempPass]),
            route("/admin/v1/clients/{client}/revoke", [.post: operations.revokeClient]),
            route(UpstreamEndpoints.entry + "/check", [.post: upstreams.check]),
            route(UpstreamEndpoints.entry + "/offers", [.get: upstreams.offers]),
            route(UpstreamEndpoints.entry + "/reset", [.post: upstreams.reset]),
            route(SupportEndpoints.path, [.post: support.find]),
            route(SupportEndpoints.path + "/end", [.post: support.end]),
        ]
    }

    private static func route(_ path: String, actsOnGet: Bool = false, _ handlers: [HTTPRequest.Method: Route.Handler]) -> Route {
        Route(path, .administration, body: .document, actsOnGet: actsOnGet, handlers)
    }

    /// The routes for back offices that have a bearer of their own: programmers' on the address of administration, proxies' on the public one.
    private static func control(_ dependencies: Dependencies) -> [Route] {
        degradation(dependencies) + tempPass(dependencies) + proxiedMvpds(dependencies)
    }

    private static func proxiedMvpds(_ dependencies: Dependencies) -> [Route] {
        let control = ProxiedMvpdControl(administration: dependencies.administration)
        return [Route(ProxiedMvpdControl.path, .api(.proxiedMvpds), body: .largeForm, [.get: control.list, .post: control.replace])]
    }

    private static func degradation(_ dependencies: Dependencies) -> [Route] {
        let control = DegradationControl(authentication: dependencies.authentication, administration: dependencies.administration)
        let all = Route(
            DegradationControl.path + "/all", .api(.degradation),
            [.get: { try await control.list($0, nil) }, .delete: { try await control.remove($0, nil) }])
        return [all]
            + MeasureKind.allCases.map { kind in
                Route(
                    "\(DegradationControl.path)/\(kind.rawValue)", .api(.degradation),
                    [
                        .get: { try await control.list($0, kind) }, .post: { try await control.apply($0, kind) },
                        .delete: { try await control.remove($0, kind) },
                    ])
            }
    }

    /// One API under the three versions that clients know it by (clients §4.19).
    private static func tempPass(_ dependencies: Dependencies) -> [Route] {
        let tempPass = TempPassReset(authentication: dependencies.authentication)
        return ["v2", "v2.1", "v3"].flatMap { version in
            [
                Route("/reset-tempass/\(version)/reset", .api(.tempPassReset), [.delete: tempPass.resetDevices]),
                Route("/reset-tempass/\(version)/reset/generic", .api(.tempPassReset), [.delete: tempPass.resetUsers]),
            ]
        }
    }

    /// Reports of usage (rest-v2 §7): the path goes on as the report is split up.
    private static func usage(_ dependencies: Dependencies) -> [Route] {
        let endpoints = UsageEndpoints(authentication: dependencies.authentication, usage: dependencies.usage)
        return [
            Route(UsageEndpoints.root, .usage, [.get: endpoints.show]),
            Route(UsageEndpoints.root + "/{dimensions*}", .usage, [.get: endpoints.show]),
        ]
    }
}

/// The gateway's routes for administrators of the cluster: the administration API, the console, control of degradation and proxied MVPDs, reports of
/// usage.
package struct AdministrationApi: Sendable {
    package let routes: [Route]
    /// A person who typed the bare address is led here; `nil` where there is no console.
    package let entrance: Route?
    package let faces: AdministrationFaces

    /// - Parameter provider: Where administrators sign in beside their tokens; `nil`: nowhere.
    package init(_ dependencies: Dependencies, provider: OpenIDProvider?) {
        routes = AdministrationRoutes.all(dependencies) + ConsoleRoutes.all(Console(dependencies: dependencies, provider: provider))
        entrance = dependencies.pages.hasConsole ? Route("/", .console, Route.readable { _ in Console.seeOther(Console.path) }) : nil
        faces = AdministrationFaces(administration: AdministrationFace(), console: ConsoleFace(dependencies.pages), usage: UsageFace())
    }
}
