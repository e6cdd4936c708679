package import GatewayEdge

/// What the gateway is to those who administer the cluster: the administration API, the console, control of degradation and proxied MVPDs, reports of usage.
package struct AdministrationApi: Sendable {
    package let routes: [Route]
    /// Where a person who typed the bare address is led; `nil` where there is no console.
    package let entrance: Route?
    package let faces: AdministrationFaces

    /// - Parameter provider: Where administrators sign in beside their tokens; `nil`: nowhere.
    package init(_ dependencies: Dependencies, provider: OpenIDProvider?) {
        routes = AdministrationRoutes.all(dependencies) + ConsoleRoutes.all(Console(dependencies: dependencies, provider: provider))
        entrance = dependencies.pages.hasConsole ? Route("/", .console, Route.readable { _ in Console.seeOther(Console.path) }) : nil
        faces = AdministrationFaces(administration: AdministrationFace(), console: ConsoleFace(dependencies.pages), usage: UsageFace())
    }
}
