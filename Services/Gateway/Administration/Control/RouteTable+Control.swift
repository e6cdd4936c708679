internal import Hummingbird

/// What back offices manage by a bearer of their own: programmers' on the address of administration, proxies' on the public one.
extension RouteTable {
    static func control(_ dependencies: Dependencies) -> [Route] {
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
        let reader = DeviceCallReader(authentication: dependencies.authentication, catalogue: dependencies.catalogue)
        let tempPass = TempPassEndpoints(dependencies: dependencies, reader: reader)
        return ["v2", "v2.1", "v3"].flatMap { version in
            [
                Route("/reset-tempass/\(version)/reset", .api(.tempPassReset), [.delete: tempPass.resetDevices]),
                Route("/reset-tempass/\(version)/reset/generic", .api(.tempPassReset), [.delete: tempPass.resetUsers]),
            ]
        }
    }
}
