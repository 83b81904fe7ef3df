"""Words that distinguish Croatian, Serbian and Bosnian in Latin script, which CLD2 and py3langid confuse.

A mark is a word, or the beginning of one if it ends with "-", that is usual in some of the languages and rare in the
others. Serbian writes "gde, mesto, promena" where the others write "gdje, mjesto, promjena" (Ekavian and Ijekavian);
the rest are words and spellings that differ. Montenegrin is Ijekavian with most of the Serbian words.
"""

# fmt: off
MARKS = (  # languages, and the marks that speak for each of them
    ("srp",
     "gde negde nigde ovde uvek pre posle vreme mesto mesta mestu mestima mestom umesto deo dela delu delova "
     "delovi delove delom deliti reč reči rečima ceo cela celo celu celi celog celom lepo lepa lepi lepe dete deca "
     "deci decu dece reka reke reku reci vek veka veku cena cene cenu levo levi leva levu levoj levog levom levim "
     "dve obe svest svesti sveta svetu telo tela telu beli bela belo belu prevod prevoda prevode prevodu prenos "
     "prenosa vest vesti čovek- mesec- primer- zahtev- izmen- promen- zamen- razmen- namen- primen- menja- menim "
     "menimo sledeć- sled- odelj- smer- smešt- premešt- nameš- ocen- procena procene procenu procenj- procenit- "
     "pobed- pobeđ- uspe- videt- videl- želet- želel- živet- živel- hteo htel- hteti razume- umeti ume zvezd- "
     "poslednj- sused- savet- nedelj- ponedelj- sreda nemačk- nemac vešt- izvešt- obaveš- osećaj- oseća- oset- "
     "poset- posed- rešen- rešav- reši- seća- sećan- setit- setio senk- senčen- sever- sednic- sedi- sedeo svedo- "
     "svetl- svetsk- uver- veruj- veroval- verovat- vera vere veru vetar vetr- večn- vežb- deljen- podel- razdel- "
     "dejstv- delat- lek lekar- mešan- mešav- mešat- pesm- pesnik- peva- peša- spreč- zapoved- vredan vredno "
     "vredna vredni vrednost- vrede- koren- greh- devojk- devoj- dečak- dečij- mleko mleka hleb bezbed- obezbe- "
     "veb avgust- spolja spoljn- savezn- snabdev- učešć- kuvan- juče sutra bekstv- pobeg- izbeg- razbe- prover- "
     "ovlašćenj- fascikl- beše beh- dole sertifikat- promeni-"),
    ("hrv bos cnr",
     "gdje negdje nigdje ovdje ondje uvijek prije poslije vrijeme umjesto dio svijet- svjet- dijete dvije obje "
     "mjest- dijel- djel- slijed- sljed- riječ- izmjen- promjen- zamjen- razmjen- namjen- primjen- cijel- lijep- "
     "djec- djet- djevoj- dječ- mlijek- rijek- rijec- vjer- mjer- mjesec- čovje- vijek- vidje- željel- željet- "
     "htje- razumje- živje- živjet- pobjed- pobjeđ- pobjeg- izbjeg- bježi- bjegu uspje- smješ- premješ- namješ- "
     "ocjen- procjen- cijen- svijest- snijeg- snjež- zvijezd- zvjezd- bijel- bilješ- bilježi- lijev- prijedlog- "
     "prijelaz- prijevod- prijenos- posljedn- susjed- savjet- nedjelj- ponedjelj- srijed- njemač- nijem- vješt- "
     "vijest- izvješ- obavješ- obavijes- primjer- smjer- usmjer- zahtjev- zahtijev- tijel- tjeles- osjeć- osjet- "
     "posjed- posjet- rješ- riješ- sjeća- sjet- sjen- sjever- sjedi- sjedn- svjedo- uvjer- vjetar vjetr- vječn- "
     "vjež- blijed- lijek- liječ- ljekar- ljet- miješ- pjesm- pjesn- pjev- pješ- spriječ- zapovijed- zapovjed- "
     "mijenj- mjenj- vrijed- korijen- grijeh- griješ- slijep- dodijel- podijel- razdijel- odjelj- odijel- dospije- "
     "prispije- umije- lijen- strijel- strjel- provjer- promije- dolje"),
    ("hrv",
     "tko netko nitko svatko itko uopće tijekom tijek tijeku glede sustav- tisuć- milijun- zrak zraka zraku "
     "zrakoplov- vlak kolodvor- tjedan tjedn- siječanj siječnj- veljač- ožujk- ožujak travanj travnj- svibanj "
     "svibnj- lipanj lipnj- srpanj srpnj- kolovoz- rujan rujna rujnu listopad- studeni studenog studenoga prosinac "
     "prosinc- glazb- znanost- znanstv- kazališ- tvrtk- računal- zaslon- tipkovnic- pisač- poslužitelj- zapork- "
     "vjerojatn- izvješć- sudionik- sudjel- surad- nazoč- europ- uporab- rabi rabiti rabite rabe obitelj- "
     "primjerice stupanj stupnj- točk- točn- točan duljin- jednadžb- izravn- kemij- kirurg- talijan- španjol- "
     "demokracij- razin- gumb- kut kuta kutu čimbenik- učinkovit- ravnatelj- promidž- nadalje premda sveučiliš- "
     "unatoč povijes- zemljovid- inačic- značajk- poveznic- stoljeć- omogućuj- stupac stupc- gustoć- netočn- "
     "razdiob-"),
    ("srp bos cnr",
     "ko niko iko šta hiljad- milion- evrop- saradnj- sarađ- sistem- računar- tačk- tačn- tačan fajl- januar- "
     "februar- septemb- oktob- novemb- decemb- voz voza vozom naučn- naučnik- pozorišt- preduzeć- muzik- porodic- "
     "učesni- učestv- štamp- tastatur- ekran- sajt- ugao ugla dužin- jednačin- hemij- hirurg- demokratij- sedmic- "
     "uslov- talas- ostrv- fudbal- definiš- definisa- nivo nivoa nivou mada spisak spisk- sačuva- dugme dugmeta "
     "dugmad- aktueln- univerzitet- prevazi- prevazilaz- sprat- uticaj- uticat- utič- organizov- haos- takodje "
     "taster- šablon- tabel- kolon- objekat gustin- omogućava- ka"),
    ("srp cnr",
     "takođe opšt- uopšte istorij- vazduh- korišće- sopstven- direktorijum- kriterijum-"),
    ("hrv bos",
     "također opć- općin- općenit- direktorij direktorija direktoriju kriterij kriterija nogomet- otok otoka otoku "
     "otoci tvornic- poduzeć- kruh kruha vlastit- popis popisa aktualn- korište- odabir- odaber- odabra- pohran- "
     "tipk- uvjet- definira- kolovoz tablic- certifikat-"),
    ("bos",
     "historij- lahk- mehk- kahv- august- uposleni- vjerovatn- hljeb- ubjeđ- sedmičn-"),
)
# After these verbs Serbian says "da" and a finite verb ("možete da vidite"), Croatian an infinitive ("možete vidjeti").
MODALS = frozenset((
    "može mogu možeš možete možemo želi žele želim želiš želite želimo treba trebate trebaju mora moraju moram moraš "
    "morate moramo hoće hoćete"
).split())
WITH_DA = ("srp", "bos", "cnr")
# What speaks against a language if nothing else differs, in marks: there is less text in it, and its marks include
# most of those of the others.
RARE = {"bos": -0.25, "cnr": -1.5}
# fmt: on
