// Not compiled by anything in this repository: Debian has no Kotlin compiler. Copy it into an app with kotlinx.coroutines.
package boxoffice.client.coroutines

import boxoffice.client.Decision
import boxoffice.client.EntitlementClient
import boxoffice.client.Provider
import boxoffice.client.Session
import boxoffice.client.SignIn
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.delay
import kotlinx.coroutines.withContext

/** [EntitlementClient] for coroutines: every call suspends in place of blocking. */
class Entitlement(private val client: EntitlementClient) {
    suspend fun providers(): List<Provider> = blocking { client.providers() }

    suspend fun signIn(provider: Provider, returnUrl: String): SignIn = blocking { client.signIn(provider, returnUrl) }

    suspend fun session(): Session? = blocking { client.session() }

    /** For a TV: asks every five seconds until somebody has signed in, or [seconds] are over. */
    suspend fun awaitSession(seconds: Int = 1800): Session? {
        repeat(seconds / 5) {
            session()?.let { return it }
            delay(5_000)
        }
        return session()
    }

    suspend fun authorize(resource: String): Decision = blocking { client.authorize(resource) }

    suspend fun preauthorize(resources: List<String>): List<Decision> = blocking { client.preauthorize(resources) }

    suspend fun metadata(): Map<String, Any?> = blocking { client.metadata() }

    suspend fun signOut(returnUrl: String? = null): String? = blocking { client.signOut(returnUrl) }

    private suspend fun <T> blocking(call: () -> T): T = withContext(Dispatchers.IO) { call() }
}
