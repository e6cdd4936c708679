internal import SandboxKit
internal import Clocks

extension VendorState {
    /// Decides about all resources of a question, in the order of rest-v2 §1.5: degradation, free trial, profile, MVPD.
    mutating func decide(_ question: DecisionQuestion, _ making: ProfileMaking) throws -> [VendorDecision] {
        if question.resources.count > question.limit, question.mvpd.tempPass == nil {
            return question.resources.map { .deny($0, .tooManyResources) }
        }
        if let terms = question.mvpd.tempPass { return tempPassDecisions(question, terms) }
        return try question.resources.map { try degradedDecision($0, question) ?? profileDecision($0, question, making) }
    }

    private func degradedDecision(_ resource: String, _ question: DecisionQuestion) -> VendorDecision? {
        let (provider, mvpd, now) = (question.serviceProvider, question.mvpd.id, question.now)
        if let rule = rule(.authZNone, provider, mvpd, resource: resource, at: now) {
            return .deny(resource, .degradation, VendorProblem(.deniedByDegradationRule, details: rule.message))
        }
        guard rule(.authNAll, provider, mvpd, resource: resource, at: now) ?? rule(.authZAll, provider, mvpd, resource: resource, at: now) != nil
        else { return nil }
        // The sample of such a permit has no times (bridge D12).
        return VendorDecision(resource: resource, source: .degradation, sessionGUID: "95cf93bcd183214a" + question.caller.device.hash)
    }

    // MARK: Free trials

    private mutating func tempPassDecisions(_ question: DecisionQuestion, _ terms: VendorCatalogue.Mvpd.TempPass) -> [VendorDecision] {
        question.resources.map { resource in
            let identity: TempPassIdentity
            do throws(VendorRefusal) {
                // Without it the device alone finds the trial in a preauthorization (rest-v2 D14).
                identity =
                    question.isPreauthorization && question.call.header("ap-temppass-identity") == nil
                    ? TempPassIdentity(hash: nil) : try TempPassIdentity(question.call, terms)
            } catch {
                return .deny(resource, .temppass, error.problem)
            }
            return tempPassDecision(resource, question, terms, identity)
        }
    }

    private mutating func tempPassDecision(
        _ resource: String, _ question: DecisionQuestion, _ terms: VendorCatalogue.Mvpd.TempPass, _ identity: TempPassIdentity
    ) -> VendorDecision {
        let (provider, mvpd, device, now) = (question.serviceProvider, question.mvpd.id, question.caller.device, question.now)
        let trial = trials.trial(provider, mvpd, device, identity)
        if let fault = trial?.fault(terms, resource: question.isPreauthorization ? nil : resource, at: now) {
            return .deny(resource, fault, .temppass)
        }
        if !question.isPreauthorization { trials.play(resource, provider, mvpd, device, identity, at: now) }
        let start = trial?.startedAt ?? now
        return VendorDecision(
            resource: resource, source: .temppass, permit: .init(start: start, end: start + .seconds(terms.seconds)),
            sessionGUID: "temppass_" + device.hash)
    }

    // MARK: People who signed in

    private mutating func profileDecision(
        _ resource: String, _ question: DecisionQuestion, _ making: ProfileMaking
    ) throws -> VendorDecision {
        let profile: VendorProfile
        switch try usableProfile(question) {
        case .failure(let code): return .deny(resource, code.code)
        case .success(let found): profile = found
        }
        guard let person = making.person(profile.person) else { return .deny(resource, .identityNotRecognized) }
        let key = VendorPermits.Key(profile.id, resource)
        let guid = making.attributes(person, mvpd: profile.mvpd).sessionGUID
        if !question.isPreauthorization {
            if let permit = permits.permit(key, at: question.now) {
                return VendorDecision(resource: resource, source: .mvpd, permit: permit, sessionGUID: guid)
            }
            if let denial = permits.cutOff(key, at: question.now) { return .deny(resource, .mvpd, denial) }
        }
        if let problem = ask(resource, person, question, making) {
            if !question.isPreauthorization { permits.note(problem, key, at: question.now) }
            return .deny(resource, .mvpd, problem)
        }
        update(profile)
        let end = min(question.now + .seconds(question.integration.authzSeconds), profile.notAfter)
        let permit = VendorPermits.Permit(start: question.now, end: end)
        if !question.isPreauthorization { permits.keep(permit, key) }
        return VendorDecision(resource: resource, source: .mvpd, permit: permit, sessionGUID: guid)
    }

    private struct ProfileFault: Error { let code: VendorErrorCode }

    /// The profile that counts: basic, from Apple's platform, by an SSO header.
    /// - Throws: The PFS's fault, where a profile from Apple's platform came with a bad one (rest-v2 D13).
    private func usableProfile(_ question: DecisionQuestion) throws(VendorRefusal) -> Result<VendorProfile, ProfileFault> {
        let owner = ProfileOwner(client: question.caller.client, device: question.caller.device, serviceProvider: question.serviceProvider)
        if let own = profiles.own(owner, question.mvpd.id, at: question.now) { return .success(own) }
        if let partners = profiles.partners(owner, question.mvpd.id, at: question.now), question.partnerStatus.isSent {
            if let fault = question.partnerStatus.fault(for: question.mvpd, catalogue, at: question.now) { throw VendorRefusal(fault) }
            return .success(partners)
        }
        if let (_, shared) = profiles.shared(question.caller.identities, mvpd: question.mvpd.id, at: question.now) { return .success(shared) }
        let remembered = profiles.remembered(owner, question.mvpd.id)
        return .failure(ProfileFault(code: remembered.map { !$0.isValid(at: question.now) } == true ? .profileExpired : .profileMissing))
    }

    /// Asks the MVPD.
    /// - Returns: nil: it permits.
    private mutating func ask(_ resource: String, _ person: Person, _ question: DecisionQuestion, _ making: ProfileMaking) -> VendorProblem? {
        mvpdQuestions += 1
        if let scripted = takeScripted(question.serviceProvider, question.mvpd.id, resource) { return scripted.problem }
        return ChannelPolicy(channels: making.channels).denial(resource, person, isPreauthorization: question.isPreauthorization)
    }

    /// A decision may change what is known about a person (rest-v2 §2.9).
    private mutating func update(_ profile: VendorProfile) {
        guard let changes = profile.afterDecision else { return }
        var profile = profile
        profile.attributes.merge(changes) { $1 }
        profile.afterDecision = nil
        profiles.set(profile)
    }
}
