@testable import BoxofficeCommand
import Testing

@Suite struct DeviceOptions {
    @Test(arguments: [
        ["--opt-in"], ["--no-opt-in"], ["--sign-out-everywhere"], ["--bundle-id", "example.acme.tv"], ["--apple-account", ""],
    ])
    func whatBelongsToAnAppleAccountNeedsOne(arguments: [String]) {
        #expect(throws: (any Error).self) { try DeviceCommand.parse(arguments) }
    }

    @Test func anAppleAccountTakesThemAll() throws {
        _ = try DeviceCommand.parse(["--apple-account", "ada", "--no-opt-in", "--bundle-id", "example.acme.sports"])
        _ = try DeviceCommand.parse(["--apple-account", "ada", "--sign-out-everywhere", "--as", "ada"])
    }

    @Test func onlyAutosigninOfALocalClusterMayReachAStandInForApple() {
        #expect(ClusterService.allCases.filter { !$0.environment.isEmpty } == [.autosignin])
    }
}
