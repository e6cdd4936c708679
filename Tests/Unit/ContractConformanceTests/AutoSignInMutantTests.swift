import ContractConformance
import Testing

/// The requirements of autosignin accept the service of this checkout, and reject mutants of it.
@Suite("Automatic Sign-In and its mutants")
struct AutoSignInMutantTests {
    @Test func theServiceMeetsEveryRequirement() async throws {
        let ids = ExaminedService.autosignin.requirements.map(\.id).filter { $0.hasPrefix("AUTO-") }
        let results = await (try await ExaminedAutoSignIn()).examine(ids)
        #expect(results.count == ids.count)
        for result in results.values {
            #expect(result.verdict == .passed, "\(result.id): \(result.details)")
        }
    }

    @Test(arguments: AutoSignInMutant.all)
    func aMutantFails(_ mutant: AutoSignInMutant) async throws {
        let results = await (try await ExaminedAutoSignIn(mutant)).examine(mutant.breaks)
        #expect(!mutant.breaks.isEmpty && results.count == mutant.breaks.count)
        for result in results.values {
            #expect(result.verdict == .failed, "\(result.id) must fail")
            #expect(result.expected?.isEmpty == false && result.came?.isEmpty == false)
        }
    }
}
