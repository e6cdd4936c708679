import ContractConformance
import Testing

/// The requirements of authorization accept the service of this checkout, and reject mutants of it.
@Suite("Authorization and its mutants")
struct AuthorizationMutantTests {
    @Test func theServiceMeetsEveryRequirement() async throws {
        let ids = ExaminedService.authorization.requirements.map(\.id).filter { $0.hasPrefix("AUTHZ-") }
        let results = await (try await ExaminedAuthorization()).examine(ids)
        #expect(results.count == ids.count)
        for result in results.values {
            #expect(result.verdict == .passed, "\(result.id): \(result.details)")
        }
    }

    /// Without the decision points of MVPDs, which it does not ask.
    @Test func theDoubleMeetsTheRequirementsOfDecide() async throws {
        let ids = (21...35).map { "AUTHZ-\($0)" } + ["AUTHZ-41"]
        let results = await (try await ExaminedAuthorization.double()).examine(ids)
        #expect(results.count == ids.count)
        for result in results.values {
            #expect(result.verdict == .passed, "\(result.id): \(result.details)")
        }
    }

    @Test(arguments: AuthorizationMutant.all)
    func aMutantFails(_ mutant: AuthorizationMutant) async throws {
        let results = await (try await ExaminedAuthorization(mutant)).examine(mutant.breaks, forgets: mutant.forgets)
        #expect(!mutant.breaks.isEmpty && results.count == mutant.breaks.count)
        for result in results.values {
            #expect(result.verdict == .failed, "\(result.id) must fail")
            #expect(result.expected?.isEmpty == false && result.came?.isEmpty == false)
        }
    }
}
