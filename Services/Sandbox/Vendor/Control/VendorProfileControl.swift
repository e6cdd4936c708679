internal import Clocks
internal import Hummingbird

/// Profiles under control: list, remove, add or put back.
struct UpstreamProfileControl: Sendable {
    private static let filters = ["id", "client", "device", "serviceProvider", "mvpd", "person"]

    let memory: UpstreamMemory
    let clock: AdjustableClock
    let making: ProfileMaking

    func add(to control: RouterGroup<SandboxContext>) {
        control.get("/profiles") { request, _ in
            let filter = Self.filter(request)
            return try ControlReader.json(memory.access { $0.profiles.all.filter(filter.fits).map(ControlledProfile.init) })
        }
        // Answers what it removed: posted again, it is there again.
        control.delete("/profiles") { request, _ in
            let filter = Self.filter(request)
            let removed = memory.access { state in
                let removed = state.profiles.all.filter(filter.fits)
                for profile in removed { state.profiles.remove(UpstreamProfiles.Key(profile)) }
                return removed
            }
            return try ControlReader.json(removed.map(ControlledProfile.init))
        }
        control.post("/profiles") { request, _ in
            let profiles = try await ControlReader.read([ControlledProfile].self, request)
            let now = clock.now()
            let added = try ControlReader.checked {
                guard profiles.count <= 10_000 else { throw SettingsFault(key: "", problem: "has more than 10000 profiles") }
                return try memory.access { state in
                    let made = try profiles.map { try $0.profile(state, making, at: now) }
                    for profile in made { state.profiles.set(profile) }
                    return made
                }
            }
            return try ControlReader.json(added.map(ControlledProfile.init))
        }
    }

    private static func filter(_ request: Request) -> ProfileFilter {
        ProfileFilter(values: filters.compactMap { name in ControlReader.query(name, request).map { (name, $0) } })
    }
}
