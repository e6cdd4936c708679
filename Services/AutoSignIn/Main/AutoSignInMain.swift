internal import AutoSignInService
internal import ServiceKit

@main
struct Main {
    static func main() async {
        await ServiceProgram.run("autosignin", settings: NoSettings.self) { environment in
            _ = try environment.catalogue()
            let store = AutoSignInStore(try environment.openStore(migrations: AutoSignInStore.migrations))
            try await store.verify()
            let watch = StoreWatch(store: store, logger: environment.logger)
            await watch.look()
            environment.readiness.require("store") { watch.lacking }
            environment.background("store-watch") {
                while true {
                    try await Task.sleep(for: .seconds(5))
                    await watch.look()
                }
            }
        }
    }
}
