internal import Hummingbird

/// The pages on which people see their devices.
extension RouteTable {
    static func devices(_ dependencies: Dependencies) -> [Route] {
        let pages = DevicesPages(dependencies: dependencies)
        return [
            Route(DevicesPages.path, .browser, readable(pages.show)),
            Route("/devices/open", .browser, body: .form, [.post: pages.open]),
            Route("/devices/open/{handle}", .browser, readable(pages.openLink)),
            Route("/devices/opt-out", .browser, body: .form, [.post: pages.optOut]),
            Route("/devices/sign-out-everywhere", .browser, body: .form, [.post: pages.signOutEverywhere]),
            Route("/devices/sign-out", .browser, body: .form, [.post: pages.signOut]),
            Route("/devices/account", .browser, body: .form, [.post: pages.makeAccount]),
        ]
    }
}
