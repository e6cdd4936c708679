@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// A test of time bounds, which say something on release programs alone: on others it fails, and names them.
struct ReleasePrograms: TestTrait, TestScoping {
    private static let complaint: String? = {
        do {
            let program = try TestCluster.binaries(Checkout.current).appendingPathComponent("boxoffice").path
            let told = try Program.run(program, ["--version"]).output
            return told.contains("release build") ? nil : "needs release programs (BOXOFFICE_BINARIES); \(program) is \(told)"
        } catch {
            return "needs release programs (BOXOFFICE_BINARIES): \(error)"
        }
    }()

    func provideScope(for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void) async throws {
        if let complaint = Self.complaint {
            Issue.record("\(test.name) \(complaint)")
        } else {
            try await function()
        }
    }
}

extension Trait where Self == ReleasePrograms {
    static var onReleasePrograms: Self { Self() }
}
